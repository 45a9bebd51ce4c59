import type { PartKind } from "#lib/transcript/message";
import type { ShownPicture } from "#lib/transcript/pictures";

export type Call = {
  name: string;
  callId?: string;
  kind?: PartKind;
  /** The client's type of the tool, for unknown names. */
  type?: string;
  input: Record<string, unknown>;
};

export type ToolResult = {
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

export type MessagePiece =
  /** @property own somebody wrote this command for the agent, so its expansion follows as the next message */
  | {
      type: "text";
      kind: "user" | "assistant" | "thinking" | "command" | "notice";
      title: string;
      text: string;
      own?: boolean;
      pictures?: ShownPicture[];
    }
  | { type: "output"; text: string }
  | { type: "call"; call: Call; result?: ToolResult }
  | { type: "result"; result: ToolResult }
  | { type: "transcript"; text: string };
