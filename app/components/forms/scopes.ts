import { type Scope, scopes } from "#lib/core/fields";

export const scopeLabels: Record<Scope, string> = {
  ingest: "Upload sessions to this account",
  read: "Read and export every session of this account",
  delete: "Delete sessions of this account, permanently",
  originals: "Store, fetch and delete exact copies of sessions, which only your own key can read",
};

const verbs: Record<Scope, string> = {
  ingest: "upload",
  read: "read",
  delete: "delete",
  originals: "keep exact copies",
};

/** `upload, read and delete` */
export const scopeWords = (granted: Scope[]): string =>
  new Intl.ListFormat("en-GB", { type: "conjunction" }).format(granted.map((scope) => verbs[scope]));

export const tickedScopes = (form: FormData): Scope[] => scopes.filter((scope) => form.has(scope));
