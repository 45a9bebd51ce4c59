const note = "Made by `spoor install`; `spoor uninstall` removes it.";

/** A missing client is ignored. */
const composeStarter = (words: string[]) => `// ${note}
import { spawn } from "node:child_process";

const [program, ...words] = ${JSON.stringify(words)};

function send() {
  try {
    const child = spawn(program, words, { stdio: "ignore", detached: true, windowsHide: true });
    child.on("error", () => {});
    child.unref();
  } catch {}
}
`;

/** OpenCode has no event for a session's end, so this sends after each turn. */
export const openCodePlugin = (words: string[]): string => `${composeStarter(words)}
export const Spoor = async () => ({
  event: async ({ event }) => {
    if (event.type === "session.idle") send();
  },
});
`;

export const piExtension = (words: string[]): string => `${composeStarter(words)}
export default function (pi) {
  pi.on("session_shutdown", send);
}
`;

export const copilotHooks = (shell: "bash" | "powershell", command: string): string =>
  `${JSON.stringify({ version: 1, hooks: { sessionEnd: [{ type: "command", [shell]: command, timeoutSec: 10, comment: note }] } }, null, 2)}\n`;
