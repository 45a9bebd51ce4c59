/** Commands from each agent's documentation. */
const resumes: Record<string, (id: string) => string | undefined> = {
  "claude-code": (id) => `claude --resume ${id}`,
  codex: (id) => `codex resume ${id}`,
  "codex-cli": (id) => `codex resume ${id}`,
  gemini: (id) => `gemini --resume ${id}`,
  "copilot-cli": (id) => `copilot --resume ${id}`,
  "gemini-cli": (id) => `gemini --resume ${id}`,
  "qwen-code": (id) => `qwen --resume ${id}`,
  pi: (id) => `pi --session ${id}`,
  // Cline names tasks by their start time; newer sessions can't be resumed by id.
  cline: (id) => (/^\d+$/.test(id) ? `cline -T ${id}` : undefined),
  // Continue resumes only the last session; a fork continues with a copy of any.
  continue: (id) => `cn --fork ${id}`,
  amp: (id) => `amp threads continue ${id}`,
  kilo: (id) => `kilo --session ${id}`,
  "mistral-vibe": (id) => `vibe --resume ${id}`,
  opencode: (id) => `opencode --session ${id}`,
};

export type ResumeWay = { name: string; command: string };

type Resumed = { id: string; source: string; sourceId: string; metadata: Record<string, unknown> | null };

/** Sources that `spoor resume` can restore (cli/resume/agents.ts); `other` is an agent for `--told`. */
const writable: Record<string, { other: string; canRebuild: boolean }> = {
  "claude-code": { other: "codex", canRebuild: true },
  "codex-cli": { other: "claude", canRebuild: true },
  codex: { other: "claude", canRebuild: true },
  "gemini-cli": { other: "claude", canRebuild: false },
  opencode: { other: "claude", canRebuild: false },
};

/** The ways to continue a session, the best first. */
export function listResumeWays({ id, source, sourceId, metadata }: Resumed, hasCopy: boolean): ResumeWay[] {
  if (metadata?.kind === "prompts-only") return []; // a prompt history, which can't be continued
  const known = Object.hasOwn(writable, source) ? writable[source] : undefined;
  const word = isWord(sourceId) ? sourceId : id;
  const local = resumeCommand(source, sourceId, metadata?.cwd);
  return [
    ...(hasCopy && known ? [{ name: "On any machine", command: `spoor resume ${word}` }] : []),
    ...(local ? [{ name: "Where it ran", command: local }] : []),
    ...(known?.canRebuild ? [{ name: "As a new session", command: `spoor resume ${word} --clean` }] : []),
    { name: "In another agent", command: `spoor resume ${word} --told ${known?.other ?? "claude"} --run` },
  ];
}

const isWord = (id: string): boolean => /^[A-Za-z0-9][\w.-]*$/.test(id);

/** Undefined for an id that is unsafe in a shell command. */
export function resumeCommand(source: string, sourceId: string, cwd?: unknown): string | undefined {
  if (!isWord(sourceId) || !Object.hasOwn(resumes, source)) return undefined;
  const command = resumes[source]?.(sourceId);
  const folder = folderWord(cwd);
  return folder && command ? `cd ${folder} && ${command}` : command;
}

/** Rejects control characters, since a line break would run the command. */
function folderWord(cwd: unknown): string | undefined {
  if (typeof cwd !== "string" || cwd.length > 1024 || !cwd.startsWith("/") || /\p{C}/u.test(cwd)) return undefined;
  return /^[\w./@%+=:,-]+$/.test(cwd) ? cwd : `'${cwd.replaceAll("'", "'\\''")}'`;
}
