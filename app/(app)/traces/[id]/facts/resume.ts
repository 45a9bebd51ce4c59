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

/** Undefined for an id that a shell could read as more than a word. */
export function resumeCommand(source: string, sourceId: string, cwd?: unknown): string | undefined {
  if (!/^[A-Za-z0-9][\w.-]*$/.test(sourceId) || !Object.hasOwn(resumes, source)) return undefined;
  const command = resumes[source]?.(sourceId);
  const folder = folderWord(cwd);
  return folder && command ? `cd ${folder} && ${command}` : command;
}

/** Rejects control characters, since a terminal would run the line that they end. */
function folderWord(cwd: unknown): string | undefined {
  if (typeof cwd !== "string" || cwd.length > 1024 || !cwd.startsWith("/") || /\p{C}/u.test(cwd)) return undefined;
  return /^[\w./@%+=:,-]+$/.test(cwd) ? cwd : `'${cwd.replaceAll("'", "'\\''")}'`;
}
