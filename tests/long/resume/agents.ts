// Agents differ in how they continue a session, and where their requests and files have the conversation.
import { type Agent, agents } from "../agents/agents.ts";

export type Resumable = Agent & {
  source: string;
  /** The request's list of messages. */
  list: "messages" | "input" | "contents";
  /** Its sessions' folders below the home folder. */
  folders: string[];
  /** It writes this many messages anew for each request, from the folder that it is in. */
  own?: number;
  resume: (prompt: string, id: string) => string[];
  /** A session can be made of the archive alone. */
  canRebuild: boolean;
};

const more: Record<string, Omit<Resumable, keyof Agent>> = {
  claude: {
    ...{ source: "claude-code", list: "messages", folders: [".claude/projects"], canRebuild: true },
    resume: (prompt, id) => [
      ...["-p", prompt, "--model", "claude-sonnet-4-5", "--dangerously-skip-permissions"],
      ...["--resume", id],
    ],
  },
  codex: {
    ...{ source: "codex-cli", list: "input", folders: [".codex/sessions"], canRebuild: true },
    resume: (prompt, id) => ["exec", "resume", id, prompt],
  },
  gemini: {
    ...{ source: "gemini-cli", list: "contents", own: 1, folders: [".gemini/tmp"], canRebuild: false },
    resume: (prompt, id) => ["-m", "gemini-2.5-pro", "-p", prompt, "--yolo", "--skip-trust", "--resume", id],
  },
  opencode: {
    ...{ source: "opencode", list: "messages", folders: [".local/share/opencode"], canRebuild: false },
    resume: (prompt, id) => ["run", "--session", id, prompt],
  },
};

export const resumable: Resumable[] = agents.flatMap((agent) => {
  const own = more[agent.folder];
  return own ? { ...agent, ...own } : [];
});
