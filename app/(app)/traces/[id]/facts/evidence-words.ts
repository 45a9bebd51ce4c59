const words: Record<string, string> = {
  "git-commit": "printed by git commit",
  "git-push": "told by git push",
  "gh-pr-create": "opened by gh pr create",
  "glab-mr-create": "opened by glab mr create",
  "pull-request-tool": "opened by a tool",
  message: "named by a message",
  "session-meta": "recorded by the agent",
  "pr-link": "linked by the agent",
  client: "found by the client",
};

export const evidenceWords = (evidence: string): string => words[evidence] ?? evidence;
