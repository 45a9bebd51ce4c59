import type { FileEdit } from "../manifest.ts";
import { quoteToml } from "../tools.ts";
import type { Edited } from "./json-hook.ts";

const note = "# Made by `spoor install`: sends a session after each turn. `spoor uninstall` removes it.";

const formatSetting = (words: string[]): string => `notify = [${words.map(quoteToml).join(", ")}]`;

/**
 * A key after a table's head would belong to the table, so this one comes first.
 *
 * @param text undefined if the file is missing
 */
export function addNotify(text: string | undefined, words: string[]): Edited {
  const command = formatSetting(words);
  const before = text ?? "";
  const keys = parseFirstKeys(before);
  if (!keys) return { problem: "it is not valid TOML" };
  const line = before.includes("\r\n") ? "\r\n" : "\n";
  if (keys.includes("notify")) {
    return hasLine(before, command) ? undefined : { problem: "it has a notify of its own already" };
  }
  const inserted = note + line + command + line;
  const offset = before.startsWith("\uFEFF") ? 1 : 0;
  const edited = before.slice(0, offset) + inserted + before.slice(offset);
  return { text: edited, edit: { inserted, offset, command, made: text === undefined ? ["file"] : [] } };
}

const hasLine = (text: string, line: string): boolean => text.split(/\r?\n/).includes(line);

export function removeNotify(text: string, { inserted, offset, command }: FileEdit): string | undefined {
  for (const at of [offset, text.indexOf(inserted)]) {
    if (at >= 0 && text.slice(at, at + inserted.length) === inserted) {
      return text.slice(0, at) + text.slice(at + inserted.length);
    }
  }
  const lines = text.split(/(?<=\n)/);
  const at = lines.findIndex((line) => line.trimEnd() === command);
  if (at === -1) return undefined;
  const from = lines[at - 1]?.trimEnd() === note ? at - 1 : at;
  return lines.toSpliced(from, at - from + 1).join("");
}

function parseFirstKeys(text: string): string[] | undefined {
  const keys: string[] = [];
  let rest = text.replace(/^\uFEFF/, "");
  for (;;) {
    rest = rest.replace(/^(?:[ \t\r\n]+|#[^\n]*)+/, "");
    if (rest === "" || rest.startsWith("[")) return keys;
    const [found, bare, quoted] = /^(?:([\w-]+)|"([^"\n]*)"|'[^'\n]*')[ \t]*(?:\.[^=\n]*)?=[ \t]*/.exec(rest) ?? [];
    const end = found === undefined ? undefined : findValueEnd(rest, found.length);
    if (found === undefined || end === undefined) return undefined;
    keys.push(bare ?? quoted ?? /'([^'\n]*)'/.exec(found)?.[1] ?? "");
    rest = rest.slice(end);
  }
}

const tokens =
  /"""[\s\S]*?(?<!\\)(?:\\\\)*"""+|'''[\s\S]*?'''+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|#[^\n]*|[[\]{}]|\n|[^"'#[\]{}\n]+|["']/gy;

function findValueEnd(text: string, from: number): number | undefined {
  let depth = 0;
  tokens.lastIndex = from;
  for (let match = tokens.exec(text); match; match = tokens.exec(text)) {
    const [token] = match;
    if (token === '"' || token === "'") return undefined;
    if (token === "[" || token === "{") depth++;
    else if (token === "]" || token === "}") depth--;
    else if (token === "\n" && depth === 0) return tokens.lastIndex;
    if (depth < 0) return undefined;
  }
  return depth === 0 ? text.length : undefined;
}
