// Runs in the decoding thread: the hash by which a trace that was sent before is recognized.
import { hash } from "node:crypto";
import type { MessageRows } from "#lib/ingest/decode/message-rows";
import type { TraceFields } from "#lib/ingest/decode/normalize";

/**
 * The hash of a trace's content: 16 bytes of its own fields, then of its messages as rows. `sanitized` is not part of it: an
 * export that is sent back has the replaced characters, and is the same trace.
 */
export function contentHash(fields: TraceFields, rows: MessageRows): string {
  return Buffer.concat([hashFields(fields), hash("sha256", rows.bytes.subarray(0, rows.end), "buffer")]).toString(
    "base64",
  );
}

const hashFields = ({ model, title, project, createdAt, metadata }: OwnFields): Buffer =>
  hash("sha256", JSON.stringify([model, title, project, createdAt, metadata]), "buffer").subarray(0, fieldsHashBytes);

/** A trace's own fields that its content hash depends on. */
export type OwnFields = Pick<TraceFields, "model" | "title" | "project" | "createdAt" | "metadata">;

/** The SHA-256 of a trace's rows, which its content hash ends with. */
export const hashMessages = (contentHash: string): Buffer =>
  Buffer.from(contentHash, "base64").subarray(fieldsHashBytes);

type Appended = { contentHash: string; messageCount: number };

/**
 * The content hash of a stored trace that got other fields or more messages. Its messages are not read again, so with more
 * messages it is not the hash of the same trace sent whole.
 */
export function appendedHash(fields: OwnFields, stored: string, appended: Appended): string {
  const [before, more] = [hashMessages(stored), hashMessages(appended.contentHash)];
  const messages = appended.messageCount === 0 ? before : hash("sha256", Buffer.concat([before, more]), "buffer");
  return Buffer.concat([hashFields(fields), messages]).toString("base64");
}

const fieldsHashBytes = 16;
/** The number of Base64 characters of a content hash that depend on the trace's own fields only. */
const fieldsHashCharacters = Math.floor((fieldsHashBytes * 4) / 3);

/** Whether two content hashes belong to traces with equal fields of their own. */
export const haveSameFields = (one: string, other: string) =>
  one.slice(0, fieldsHashCharacters) === other.slice(0, fieldsHashCharacters);
