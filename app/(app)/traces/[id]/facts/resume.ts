/** The command that continues a session in its agent, from each agent's documentation. */
const resumes: Record<string, (id: string) => string> = {
  "claude-code": (id) => `claude --resume ${id}`,
  codex: (id) => `codex resume ${id}`,
  "codex-cli": (id) => `codex resume ${id}`,
  gemini: (id) => `gemini --resume ${id}`,
  "copilot-cli": (id) => `copilot --resume ${id}`,
  "gemini-cli": (id) => `gemini --resume ${id}`,
  "qwen-code": (id) => `qwen --resume ${id}`,
  amp: (id) => `amp threads continue ${id}`,
  kilo: (id) => `kilo --session ${id}`,
  "mistral-vibe": (id) => `vibe --resume ${id}`,
  opencode: (id) => `opencode --session ${id}`,
};

/** The command that continues a session, if its agent has one. None for an id that a shell could read as more than a word. */
export function resumeCommand(source: string, sourceId: string): string | undefined {
  if (!/^[A-Za-z0-9][\w.-]*$/.test(sourceId)) return undefined;
  return Object.hasOwn(resumes, source) ? resumes[source]?.(sourceId) : undefined;
}
