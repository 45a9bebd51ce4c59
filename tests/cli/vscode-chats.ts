// Made-up chats in the form of Visual Studio Code.

export const user = ".config/Code/User";
export const chats = `${user}/workspaceStorage/abc/chatSessions`;
export const start = Date.parse("2026-11-01T10:00:00Z");
export const at = (seconds: number) => new Date(start + seconds * 1000).toISOString();
export const workspace = {
  [`${user}/workspaceStorage/abc/workspace.json`]: JSON.stringify({ folder: "file:///home/ada/code/my%20api" }),
};

export const request = (number: number, response: object[], more: object = {}) => ({
  requestId: `r${number}`,
  timestamp: start + number * 60_000,
  message: { text: `Question ${number}`, parts: [] },
  variableData: { variables: [] },
  response,
  modelId: "copilot/claude-opus-4.5",
  ...more,
});
export const session = (requests: object[], more: object = {}) => ({
  version: 3,
  sessionId: "s",
  creationDate: start,
  responderUsername: "GitHub Copilot",
  requests,
  ...more,
});
export const texts = (messages: { role?: string; content: string }[] | undefined) =>
  messages?.map(({ role, content }) => [role, content]);

export const shownCall = (toolCallId: string, more: object = {}) => ({
  kind: "toolInvocationSerialized",
  toolId: "copilot_readFile",
  toolCallId,
  isComplete: true,
  pastTenseMessage: { value: "Read a.ts" },
  ...more,
});

export const answer = (text: string) => ({ value: text });
