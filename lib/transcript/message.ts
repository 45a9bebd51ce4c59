import type { ShownPicture } from "#lib/transcript/pictures";

/** The part of the API's message (lib/traces/schema.ts) that the reader needs. */
export type ReaderMessage = {
  position: number;
  role: string | null;
  content: string;
  tokenCount: number | null;
  /** ISO 8601 */
  createdAt: string | null;
  metadata: Record<string, unknown> | null;
  pictures?: ShownPicture[];
};

export const kinds = [
  "user",
  "assistant",
  "thinking",
  "shell",
  "edit",
  "write",
  "read",
  "search",
  "web",
  "question",
  "plan",
  "tasks",
  "subagent",
  "command",
  "notice",
  "unknown",
] as const;

export type PartKind = (typeof kinds)[number];

export const isKind = (value: unknown): value is PartKind => kinds.some((kind) => kind === value);

export type DiffLine = {
  type: "added" | "removed" | "same" | "hunk";
  text: string;
  /** First line numbers before and after, for a hunk. */
  at?: [old: number, now: number];
};

export type TaskState = "open" | "doing" | "done";

export type Block =
  /** @property fold the summary, if it is folded within an open body */
  | { type: "markdown"; text: string; fold?: string }
  | { type: "said"; text: string }
  /** @property text a data URL */
  | { type: "image"; text: string; label: string }
  | { type: "pictures"; pictures: ShownPicture[] }
  /** @property first the first line's number, if lines are numbered */
  | { type: "code"; text: string; language: string; label?: string; first?: number }
  | { type: "output"; text: string }
  | { type: "diff"; lines: DiffLine[]; path?: string; language?: string }
  | { type: "tasks"; items: { state: TaskState; text: string }[] }
  | { type: "transcript"; messages: ReaderMessage[] };

export type Status = "ok" | "failed" | "rejected" | "pending";

export type RowPart = {
  kind: PartKind;
  title: string;
  tool?: string;
  note?: string;
  /** A size such as "34 lines" or "12 hits". */
  amount?: string;
  status?: Status;
  exitCode?: number;
  durationMs?: number;
  changes?: { added: number; removed: number };
  session?: string;
  files?: { path: string; added: number; removed: number }[];
  blocks: Block[];
};

export type ReaderRow = {
  position: number;
  /** Every position that leads here, ascending. */
  positions: number[];
  kind: PartKind | "group";
  role: string | null;
  createdAt: string | null;
  tokenCount: number | null;
  /** Set only if it differs from the previous answer's model. */
  model: string | null;
  gapBefore: { since: string; seconds: number } | null;
  turnStart: boolean;
  failed: boolean;
  talk: boolean;
  /** Set on the turn's last answer. */
  turnChanges: { files: number; added: number; removed: number } | null;
  parts: RowPart[];
  members: ReaderRow[];
};

/** In characters of text. */
const pictureSize = 300;

export function blockSize(block: Block): number {
  switch (block.type) {
    case "pictures":
      return block.pictures.length * pictureSize;
    case "diff":
      return block.lines.reduce((sum, { text }) => sum + text.length + 1, 0);
    case "tasks":
      return block.items.reduce((sum, { text }) => sum + text.length, 0);
    case "transcript":
      return block.messages.reduce((sum, { content }) => sum + content.length, 0);
    default:
      return block.text.length;
  }
}
