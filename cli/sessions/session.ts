import type { SessionDetails } from "../adapters/adapter.ts";
import type { ProjectLabels } from "../projects/rules.ts";

export type SessionLabels = ProjectLabels & { source: string };

export type RecordedSession = SessionLabels & { lacksPictures?: true };

export function getLabels(source: string, { project, metadata }: SessionDetails): SessionLabels {
  const cwd = metadata?.cwd;
  return { source, project, cwd: typeof cwd === "string" ? cwd : undefined };
}

export type SentState = {
  /** Hash of messages and fields; empty while parts are missing. */
  hash: string;
  /** Message counts after each upload; the last is the total. */
  counts: number[];
  /** Digest of the messages, in segments that end at `counts` (`MessageDigest`). */
  digest: string;
  /** The reason for sending the session again, which makes its idempotency keys differ. */
  salt?: string | undefined;
  kept?: Kept;
};

/** The server has more messages, a newer upload, or a deletion of the session. */
export type Kept = { reason: string; messageCount: number };

export const beginAgain = (salt: string): SentState => ({ hash: "", counts: [], digest: "", salt });

export type Session = SessionLabels & {
  sourceId: string;
  messages: number;
  /** Number of messages sent before; undefined for a session's first part. */
  append: number | undefined;
  /** Only the last part has the session's own fields. */
  isLast: boolean;
  hasPictures: boolean;
  bytes: number;
  state: SentState;
  /** Compressed pieces are concatenated into one body. */
  body: { plain: Buffer[] } | { compressed: Buffer[]; compressedBytes: number };
};

export const countBytesInMemory = ({ body, bytes }: Session): number =>
  "compressed" in body ? body.compressedBytes : bytes;

/** A session, or an input named by its path, that could not be sent. */
export type UnsentSession = { source: string; sourceId: string; reason: string };

export type PartLimits = { bytes: number; wireBytes: number; messages: number };

export type KnownSession = {
  state?: SentState | undefined;
  replaces?: boolean;
};
