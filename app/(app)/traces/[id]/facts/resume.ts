/** What continues a session in its agent's own program, as of each one's documentation. */
const resumes: Record<string, (id: string) => string> = {
  "claude-code": (id) => `claude --resume ${id}`,
  codex: (id) => `codex resume ${id}`,
  "codex-cli": (id) => `codex resume ${id}`,
  gemini: (id) => `gemini --resume ${id}`,
  "gemini-cli": (id) => `gemini --resume ${id}`,
  opencode: (id) => `opencode --session ${id}`,
};

/** The command that continues a session, where its agent is known to have one. An id that a shell could read as more is left alone. */
export function resumeCommand(source: string, sourceId: string): string | undefined {
  if (!/^[A-Za-z0-9][\w.-]*$/.test(sourceId)) return undefined;
  return Object.hasOwn(resumes, source) ? resumes[source]?.(sourceId) : undefined;
}
