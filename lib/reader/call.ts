import type { Kind } from "#lib/reader/message";
import type { ShownPicture } from "#lib/reader/picture-references";

/** A tool's call, in whatever form it was written. */
export type Call = {
  name: string;
  callId?: string;
  /** Where the client names it. */
  kind?: Kind;
  /** The client's type of the tool, for unknown names. */
  type?: string;
  input: Record<string, unknown>;
};

/** A call's result. */
export type Result = {
  callId?: string;
  name?: string;
  output: string;
  failed?: boolean;
  exitCode?: number;
  durationMs?: number;
  /** Lines of a unified diff that the tool itself reported. */
  patch?: string;
  /** The source id of the sub-agent's session that did the work. */
  session?: string;
  pictures?: ShownPicture[];
};

/** What one message holds, before calls and results of several messages are paired. */
export type Piece =
  /** @property own of a command: whether somebody wrote it for the agent, so that what it means follows as the next message */
  | {
      type: "text";
      kind: "user" | "assistant" | "thinking" | "command" | "notice";
      title: string;
      text: string;
      own?: boolean;
      pictures?: ShownPicture[];
    }
  | { type: "output"; text: string }
  | { type: "call"; call: Call; result?: Result }
  | { type: "result"; result: Result }
  | { type: "transcript"; text: string };
