import { hash } from "node:crypto";
import type { MessageRows } from "#lib/ingest/decode/message-rows";
import type { TraceFields } from "#lib/ingest/decode/normalize";

/** Excludes `sanitized`, so that sending an export back changes nothing. */
export function contentHash(fields: TraceFields, rows: MessageRows): string {
  return Buffer.concat([hashFields(fields), hash("sha256", rows.bytes.subarray(0, rows.end), "buffer")]).toString(
    "base64",
  );
}

const hashFields = ({ model, title, project, createdAt, metadata }: OwnFields): Buffer =>
  hash("sha256", JSON.stringify([model, title, project, createdAt, metadata]), "buffer").subarray(0, fieldsHashBytes);

export type OwnFields = Pick<TraceFields, "model" | "title" | "project" | "createdAt" | "metadata">;

export const hashMessages = (contentHash: string): Buffer =>
  Buffer.from(contentHash, "base64").subarray(fieldsHashBytes);

type Appended = { contentHash: string; messageCount: number };

/** With more messages this is not the hash of the whole trace, since the stored ones are not read again. */
export function appendedHash(fields: OwnFields, stored: string, appended: Appended): string {
  const [before, more] = [hashMessages(stored), hashMessages(appended.contentHash)];
  const messages = appended.messageCount === 0 ? before : hash("sha256", Buffer.concat([before, more]), "buffer");
  return Buffer.concat([hashFields(fields), messages]).toString("base64");
}

const fieldsHashBytes = 16;
const fieldsHashCharacters = Math.floor((fieldsHashBytes * 4) / 3);

export const haveSameFields = (one: string, other: string) =>
  one.slice(0, fieldsHashCharacters) === other.slice(0, fieldsHashCharacters);
