import type { ShownPicture } from "#lib/reader/picture-references";

/** A message as the API returns it (lib/traces/schema.ts), as far as the reader needs it. */
export type ReaderMessage = {
  position: number;
  role: string | null;
  content: string;
  tokenCount: number | null;
  /** ISO 8601 */
  createdAt: string | null;
  metadata: Record<string, unknown> | null;
  /** The pictures that it refers to, where they are to be shown: in the order of their placeholders. */
  pictures?: ShownPicture[];
};

/** The kinds of content that the reader tells apart. */
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

export type Kind = (typeof kinds)[number];

export const isKind = (value: unknown): value is Kind => kinds.some((kind) => kind === value);

/** One line of a change. */
export type DiffLine = {
  type: "added" | "removed" | "same" | "hunk";
  text: string;
  /** Of a hunk, where it is told: the numbers of its first lines before and after. */
  at?: [old: number, now: number];
};

export type TaskState = "open" | "doing" | "done";

/** One piece of a body; they are drawn in order. */
export type Block =
  /** @property fold the summary, where it is folded within an open body */
  | { type: "markdown"; text: string; fold?: string }
  /** What a person wrote: with its line breaks, pastes and diffs as they were. */
  | { type: "said"; text: string }
  /** An image that came in the message. @property text its data: URL */
  | { type: "image"; text: string; label: string }
  /** Pictures that came beside the text. */
  | { type: "pictures"; pictures: ShownPicture[] }
  | { type: "code"; text: string; language: string; label?: string }
  /** What a program printed, with its ANSI colours. */
  | { type: "output"; text: string }
  | { type: "diff"; lines: DiffLine[]; path?: string; language?: string }
  | { type: "tasks"; items: { state: TaskState; text: string }[] }
  /** A sub-agent's own messages. */
  | { type: "transcript"; messages: ReaderMessage[] };

/** How a tool ended; `pending` without a result. */
export type Status = "ok" | "failed" | "rejected" | "pending";

/** One thing within a message: its text, its thinking, or one tool's call with its result. */
export type Part = {
  kind: Kind;
  /** What always shows: a command, a path, a query, a thought's first line. */
  title: string;
  /** The tool's own name. */
  tool?: string;
  /** The agent's reason for the call. */
  note?: string;
  /** What is known of its size: "34 lines", "12 hits". */
  amount?: string;
  status?: Status;
  exitCode?: number;
  durationMs?: number;
  changes?: { added: number; removed: number };
  /** The source id of the sub-agent's session that did the work. */
  session?: string;
  /** The files that it changed. */
  files?: { path: string; added: number; removed: number }[];
  blocks: Block[];
};

/** One row of the reader. */
export type ReaderRow = {
  /** Its own position, that of its first message with content. */
  position: number;
  /** Every position that leads here, ascending; `position` is the first, except where empty messages came before it. */
  positions: number[];
  kind: Kind | "group";
  role: string | null;
  createdAt: string | null;
  tokenCount: number | null;
  /** Where it differs from the answer before. */
  model: string | null;
  /** The time since the row before, where both are known. */
  gapBefore: { since: string; seconds: number } | null;
  turnStart: boolean;
  failed: boolean;
  /** Whether Talk shows it. */
  talk: boolean;
  /** What the turn changed; at its last answer. */
  turnChanges: { files: number; added: number; removed: number } | null;
  parts: Part[];
  /** Of a group: the quiet tools in it. */
  members: ReaderRow[];
};

/** What a picture is worth in characters of text. */
const pictureSize = 300;

/** How many characters a block holds. */
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
