import type { SessionDetails } from "../adapters/adapter.ts";
import type { ProjectLabels } from "../projects/rules.ts";

/** What `--source` and `--project` are compared with. */
export type SessionLabels = ProjectLabels & { source: string };

/** What is kept of a session that an input held: its labels, and whether pictures in it were not sent. */
export type RecordedSession = SessionLabels & { lacksPictures?: true };

export function getLabels(source: string, { project, metadata }: SessionDetails): SessionLabels {
  const cwd = metadata?.cwd;
  return { source, project, cwd: typeof cwd === "string" ? cwd : undefined };
}

/** What was sent of a session. */
export type SentState = {
  /** Of its messages and its own fields; empty while parts of it are missing. */
  hash: string;
  /** How many messages had been sent after each time; the last is the number of all. */
  counts: number[];
  /** Of those messages, in segments that end at `counts` (message-digest.ts). */
  digest: string;
  /** Why the session was last begun again, where it was: it makes its uploads differ from earlier ones with the same content. */
  salt?: string | undefined;
  /** Why the server kept what it had of the session, where it did. */
  kept?: Kept;
};

/** The server has more messages of a session, a newer upload of it, or its owner deleted it there. */
export type Kept = { reason: string; messageCount: number };

/** The state of a session that is to be sent whole. */
export const beginAgain = (salt: string): SentState => ({ hash: "", counts: [], digest: "", salt });

/** A session as JSON, ready to be sent: all of it, or a part that follows what was sent before. */
export type Session = SessionLabels & {
  sourceId: string;
  /** In this part. */
  messages: number;
  /** How many messages were sent before; undefined for a part that begins the session. */
  append: number | undefined;
  /** Whether the session ends with it. Only the last part has the session's own fields. */
  isLast: boolean;
  /** Whether a message that was read of the session names a picture. */
  hasPictures: boolean;
  /** Of its JSON. */
  bytes: number;
  /** What was sent of the session once this is. */
  state: SentState;
  /** Its JSON; that of a large one as compressed pieces, which together are one body. */
  body: { plain: Buffer[] } | { compressed: Buffer[]; compressedBytes: number };
};

/** The memory that a session takes until it is sent, in bytes. */
export const countBytesInMemory = ({ body, bytes }: Session): number => ("compressed" in body ? body.compressedBytes : bytes);

/** A session, or an input named by its path, that was left out. */
export type UnsentSession = { source: string; sourceId: string; reason: string };

/** The largest part that the server accepts, by `GET /api/limits`. */
export type PartLimits = { bytes: number; wireBytes: number; messages: number };

/** What is known of a session before it is read. */
export type KnownSession = {
  /** What was sent of it; undefined where it is to be sent whole. */
  state?: SentState | undefined;
  /** Whether its first part replaces a longer one on the server. */
  replaces?: boolean;
};
