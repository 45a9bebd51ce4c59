import { join } from "node:path";
import type { Host } from "../../adapters/adapter.ts";
import type { FileEdit } from "../manifest.ts";
import { quotePowerShell, quoteSh } from "../tools.ts";
import { addNotify, removeNotify } from "./codex-notify.ts";
import { addHook, type Edited, type Hook, removeHook } from "./json-hook.ts";
import { copilotHooks, openCodePlugin, piExtension } from "./plugins.ts";

/** An agent starts the client by words, or by a shell command (PowerShell on Windows). */
type HookCall = { program: string[]; tail: string[]; command: string; isWindows: boolean };

/** A file through which an agent sends when its turn or session ends. */
type HookTarget = {
  title: string;
  folder: (host: Host) => string;
  file: string;
  source?: string;
  /** The agent is left alone if this path below the folder is missing. */
  needs?: { path: string; reason: string };
} & (
  | { text: (call: HookCall) => string }
  | {
      change: (text: string | undefined, call: HookCall) => Edited;
      undo: (text: string, edit: FileEdit) => string | undefined;
    }
);

/**
 * The agent would show output and an exit code, or take 2 for a reason to continue.
 *
 * @param program the words that start the client
 */
export function makeCall({ platform }: Host, program: string[], source: string): HookCall {
  const tail = ["service", "hook", source];
  const isWindows = platform === "win32";
  const words = [...program.map(isWindows ? quotePowerShell : quoteSh), ...tail].join(" ");
  const command = isWindows ? `& ${words} *> $null; exit 0` : `${words} >/dev/null 2>&1 || true`;
  return { program, tail, command, isWindows };
}

const makeSettingsHook = (event: string, more: (call: HookCall) => object) => ({
  file: "settings.json",
  change: (text: string | undefined, call: HookCall) => {
    const hook: Hook = { type: "command", command: call.command, ...more(call) };
    return addHook(text, event, hook);
  },
  undo: (text: string, edit: FileEdit) => removeHook(text, event, edit),
});

/** On Windows Claude Code uses one of several shells, which agree on these quotation marks and slashes. */
const quoteForAny = (word: string): string => `"${word.replaceAll("\\", "/")}"`;

/** By the keys in `install.json`. A hook only starts another process, so its time limit is short. */
export const targets: Record<string, HookTarget> = {
  "claude-code": {
    title: "Claude Code: send when a session ends",
    folder: ({ env, home }) => env.CLAUDE_CONFIG_DIR?.split(",")[0]?.trim() || join(home, ".claude"),
    ...makeSettingsHook("SessionEnd", ({ program, tail, isWindows }) => ({
      ...(isWindows && { command: [...program.map(quoteForAny), ...tail].join(" ") }),
      timeout: 10,
    })),
  },
  codex: {
    title: "Codex: send after each turn",
    folder: ({ env, home }) => env.CODEX_HOME || join(home, ".codex"),
    file: "config.toml",
    source: "codex-cli",
    change: (text, { program, tail }) => addNotify(text, [...program, ...tail]),
    undo: removeNotify,
  },
  "gemini-cli": {
    title: "Gemini CLI: send when a session ends",
    folder: ({ env, home }) => join(env.GEMINI_CLI_HOME || home, ".gemini"),
    ...makeSettingsHook("SessionEnd", () => ({ timeout: 10_000 })), // milliseconds, unlike the others
  },
  "qwen-code": {
    // Without a terminal Qwen Code has no event for a session's end.
    title: "Qwen Code: send after each turn",
    folder: ({ env, home }) => env.QWEN_HOME || join(home, ".qwen"),
    ...makeSettingsHook("Stop", ({ isWindows }) => ({ timeout: 10, ...(isWindows && { shell: "powershell" }) })),
  },
  "copilot-cli": {
    title: "Copilot CLI: send when a session ends",
    folder: ({ env, home }) => env.COPILOT_HOME || join(home, ".copilot"),
    file: "hooks/spoor.json",
    text: ({ isWindows, command }) => copilotHooks(isWindows ? "powershell" : "bash", command),
  },
  opencode: {
    title: "OpenCode: send after each turn",
    folder: ({ env, home }) => join(env.XDG_CONFIG_HOME || join(home, ".config"), "opencode"),
    file: "plugins/spoor.js",
    needs: {
      path: "node_modules/@opencode-ai/plugin",
      reason: "it waits for npm before it loads its first plugin. Start it once, then run `spoor install` again",
    },
    text: ({ program, tail }) => openCodePlugin([...program, ...tail]),
  },
  pi: {
    title: "Pi: send when a session ends",
    folder: ({ env, home }) => env.PI_CODING_AGENT_DIR || join(home, ".pi", "agent"),
    file: "extensions/spoor.js",
    text: ({ program, tail }) => piExtension([...program, ...tail]),
  },
};
