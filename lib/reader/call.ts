import type { Kind } from "#lib/reader/message";

/** A tool's call as the reader understands it, wherever it was written. */
export type Call = {
  name: string;
  callId?: string;
  /** What its kind is, where the client says so. */
  kind?: Kind;
  /** What the client called the tool's type, for names that are not known. */
  type?: string;
  input: Record<string, unknown>;
};

/** What came of a call. */
export type Result = {
  callId?: string;
  name?: string;
  output: string;
  failed?: boolean;
  exitCode?: number;
  durationMs?: number;
  /** Lines of a unified diff that the tool itself reported. */
  patch?: string;
};

/** What one message holds, before calls and results of several messages are brought together. */
export type Piece =
  | { type: "text"; kind: "user" | "assistant" | "thinking" | "command" | "notice"; title: string; text: string }
  | { type: "output"; text: string }
  | { type: "call"; call: Call; result?: Result }
  | { type: "result"; result: Result }
  | { type: "transcript"; text: string };
