import { CommandError } from "../errors.ts";
import { type Fields, isFields, toList, toText } from "../files/json.ts";
import { type Api, HttpError } from "../server/api.ts";

const maxPartBytes = 4 * 1024 * 1024;
const maxPages = 5000;

export type StoredOriginal = {
  version: string;
  recipient: string;
  plainBytes: number;
  updatedAt: string;
  machine: string;
  head: Buffer;
  /** SHA-256 of each encrypted part. */
  parts: string[];
};

export type ListedOriginal = {
  source: string;
  sourceId: string;
  title: string | null;
  project: string | null;
  updatedAt: string;
  machine: string;
  files: number;
  plainBytes: number;
  storedBytes: number;
  fingerprint: string;
  version: string;
};

export type Manifest = { recipient: string; files: number; plainBytes: number; head: Uint8Array; parts: string[] };

export type PutOutcome = { version: string } | "changed" | { missing: string[] };

const keyPath = "/api/originals/key";
const encode = encodeURIComponent;
const getPath = (source: string, sourceId: string): string => `/api/originals/${encode(source)}/${encode(sourceId)}`;

const isStatus = (error: unknown, ...statuses: number[]): error is HttpError =>
  error instanceof HttpError && statuses.includes(error.status);

/** Servers before version 0.4 accept no copies. */
export async function takesOriginals(api: Api): Promise<boolean> {
  return isFields((await api.request("/api/limits")).body.originals);
}

export async function fetchRecipient(api: Api): Promise<string | undefined> {
  try {
    return toText((await api.request(keyPath)).body.recipient);
  } catch (error) {
    if (isStatus(error, 404)) return undefined;
    throw error;
  }
}

/**
 * @param replaces fingerprint of the account's current key
 * @returns false if the account has a different key by now
 */
export async function putKey(api: Api, recipient: string, replaces?: string): Promise<boolean> {
  try {
    await api.request(keyPath, { method: "PUT", json: { recipient }, headers: makeCondition(replaces) });
    return true;
  } catch (error) {
    // An earlier answer may have been lost.
    if (isStatus(error, 412)) return (await fetchRecipient(api)) === recipient;
    throw error;
  }
}

const makeCondition = (tag: string | undefined): Record<string, string> =>
  tag === undefined ? { "If-None-Match": "*" } : { "If-Match": `"${tag}"` };

export async function putPart(api: Api, sha256: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  await api.request(`/api/originals/parts/${sha256}`, {
    method: "PUT",
    body: { bytes, encoding: "identity" },
    headers: { "Content-Type": "application/octet-stream" },
  });
}

export async function getPart(api: Api, sha256: string): Promise<Buffer | undefined> {
  try {
    const bytes = await api.download(`/api/originals/parts/${sha256}`, {}, maxPartBytes);
    return Buffer.isBuffer(bytes) ? bytes : undefined;
  } catch (error) {
    if (isStatus(error, 404)) return undefined;
    throw error;
  }
}

export async function getOriginal(api: Api, source: string, sourceId: string): Promise<StoredOriginal | undefined> {
  try {
    const { body } = await api.request(getPath(source, sourceId));
    return {
      version: toText(body.version),
      recipient: toText(body.recipient),
      plainBytes: Number(body.plainBytes),
      updatedAt: toText(body.updatedAt),
      machine: toText(body.machine),
      head: Buffer.from(toText(body.head), "base64"),
      parts: toList(body.parts)
        .filter(isFields)
        .map(({ sha256 }) => toText(sha256)),
    };
  } catch (error) {
    if (isStatus(error, 404)) return undefined;
    throw error;
  }
}

export async function putOriginal(
  api: Api,
  { source, sourceId }: { source: string; sourceId: string },
  manifest: Manifest,
  version: string | undefined,
): Promise<PutOutcome> {
  const json = { ...manifest, head: Buffer.from(manifest.head).toString("base64") };
  const headers = makeCondition(version);
  try {
    const request = { method: "PUT", json, headers, timeoutSeconds: 120 } as const;
    const { body } = await api.request(getPath(source, sourceId), request);
    return { version: toText(body.version) };
  } catch (error) {
    if (isStatus(error, 412)) return "changed";
    if (isStatus(error, 409) && error.code === "parts_missing")
      return { missing: toList(error.problem.missing).map(toText) };
    throw error;
  }
}

export async function* listOriginals(api: Api, filter: { source?: string; sourceId?: string } = {}) {
  for (let [cursor, page]: [string | undefined, number] = [undefined, 1]; ; page++) {
    const query = new URLSearchParams({ ...filter, limit: "100", ...(cursor !== undefined && { cursor }) });
    const { body } = await api.request(`/api/originals?${query}`);
    for (const one of toList(body.originals).filter(isFields)) yield toListed(one);
    cursor = toText(body.nextCursor) || undefined;
    if (cursor === undefined) return;
    if (page === maxPages) throw new CommandError("failed", `${api.url} listed too many copies.`);
  }
}

const toListed = (one: Fields): ListedOriginal => ({
  source: toText(one.source),
  sourceId: toText(one.sourceId),
  title: typeof one.title === "string" ? one.title : null,
  project: typeof one.project === "string" ? one.project : null,
  updatedAt: toText(one.updatedAt),
  machine: toText(one.machine),
  files: Number(one.files),
  plainBytes: Number(one.plainBytes),
  storedBytes: Number(one.storedBytes),
  fingerprint: toText(one.fingerprint),
  version: toText(one.version),
});
