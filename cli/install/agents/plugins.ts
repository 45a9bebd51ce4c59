// Files of our own that an agent loads.

const note = "Made by `spoor install`; `spoor uninstall` removes it.";

/** What starts the client from within an agent: it waits for nothing, and a client that is gone is no error. */
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

/** A plugin of OpenCode's: sends after each turn, as OpenCode tells no session's end. */
export const openCodePlugin = (words: string[]): string => `${composeStarter(words)}
export const Spoor = async () => ({
  event: async ({ event }) => {
    if (event.type === "session.idle") send();
  },
});
`;

/** An extension of Pi's. */
export const piExtension = (words: string[]): string => `${composeStarter(words)}
export default function (pi) {
  pi.on("session_shutdown", send);
}
`;

/** A file of Copilot's hooks. */
export const copilotHooks = (shell: "bash" | "powershell", command: string): string =>
  `${JSON.stringify({ version: 1, hooks: { sessionEnd: [{ type: "command", [shell]: command, timeoutSec: 10, comment: note }] } }, null, 2)}\n`;
