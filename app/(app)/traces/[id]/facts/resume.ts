/** The command that continues a session in its agent, from each agent's documentation. */
const resumes: Record<string, (id: string) => string | undefined> = {
  "claude-code": (id) => `claude --resume ${id}`,
  codex: (id) => `codex resume ${id}`,
  "codex-cli": (id) => `codex resume ${id}`,
  gemini: (id) => `gemini --resume ${id}`,
  "copilot-cli": (id) => `copilot --resume ${id}`,
  "gemini-cli": (id) => `gemini --resume ${id}`,
  "qwen-code": (id) => `qwen --resume ${id}`,
  pi: (id) => `pi --session ${id}`,
  // Cline's tasks are named by when they began; sessions of its newer form can't be resumed by their ids.
  cline: (id) => (/^\d+$/.test(id) ? `cline -T ${id}` : undefined),
  // Continue resumes only the last session by itself: a fork goes on with a copy of any.
  continue: (id) => `cn --fork ${id}`,
  amp: (id) => `amp threads continue ${id}`,
  kilo: (id) => `kilo --session ${id}`,
  "mistral-vibe": (id) => `vibe --resume ${id}`,
  opencode: (id) => `opencode --session ${id}`,
};

/**
 * The command that continues a session, in its folder, if its agent has one. None for an id that a shell could read as more than
 * a word.
 */
export function resumeCommand(source: string, sourceId: string, cwd?: unknown): string | undefined {
  if (!/^[A-Za-z0-9][\w.-]*$/.test(sourceId) || !Object.hasOwn(resumes, source)) return undefined;
  const command = resumes[source]?.(sourceId);
  const folder = folderWord(cwd);
  return folder && command ? `cd ${folder} && ${command}` : command;
}

/** An absolute folder as one word of a shell; a path with control characters is left out, as a terminal runs what ends a line. */
function folderWord(cwd: unknown): string | undefined {
  if (typeof cwd !== "string" || cwd.length > 1024 || !cwd.startsWith("/") || /\p{C}/u.test(cwd)) return undefined;
  return /^[\w./@%+=:,-]+$/.test(cwd) ? cwd : `'${cwd.replaceAll("'", "'\\''")}'`;
}
