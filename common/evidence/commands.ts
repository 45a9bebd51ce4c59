import { isFields } from "#common/evidence/text";

/** `several`: the call may open more than one pull request and prints no other's address. */
export type Act = "git-commit" | "git-push" | "gh-pr-create" | "glab-mr-create" | "pull-request-tool" | "several";

// No alternatives below match the same text, so any command is matched in linear time.
const settings = String.raw`(?:\w+=(?:"[^"]*"|'[^']*'|[^\s"']\S*|)\s+)*`;
const commandStart = String.raw`(?:^|[;&|({\n\u0060]|\b(?:then|do|else|sudo|time|command)\s|\s-\w*c\s+['"])[ \t]*${settings}`;
const valued = String.raw`(?:-[Cc]|--(?:git-dir|work-tree|namespace))\s`;
const gitOptions = String.raw`(?:${valued}+(?:"[^"]*"|'[^']*'|[^\s"']\S*)\s+|(?!${valued})-\S+\s+)*`;
const git = String.raw`(?:(?:"[^"\n]*[\\/]|[\w.~:\\/-]*[\\/])?git(?:\.exe)?"?\s+${gitOptions}(commit|cherry-pick|revert|push))`;
const acting = new RegExp(
  String.raw`${commandStart}(?:${git}|(gh)\s+pr\s+(?:create|new)|(glab)\s+mr\s+(?:create|new)|(?:gh|glab)\s+(?:pr|mr|api|search))(?![\w-])`,
  "g",
);

const maxCommandChars = 64 * 1024;

export function actsOfCommand(command: string): Act[] {
  if (!/\b(?:git|gh|glab)\b/.test(command)) return [];
  const acts = new Set<Act>();
  let [opening, isOther] = [0, false];
  const searched = withoutDocuments(command.slice(0, maxCommandChars));
  for (const { 1: git, 2: gh, 3: glab, index, 0: all } of searched.matchAll(acting)) {
    const behind = searched.slice(index + all.length, index + all.length + maxOptionChars);
    if (/^[^\n;&|]*\s--dry-run(?![\w-])/.test(behind)) continue;
    if (git) acts.add(git === "push" ? "git-push" : "git-commit");
    else if (gh || glab) acts.add(gh ? "gh-pr-create" : "glab-mr-create");
    if (gh || glab) opening += 1;
    else if (!git) isOther = true;
  }
  if (opening > 0 && !isOther && (opening > 1 || /\b(?:for|while|until|xargs)\b/.test(searched))) acts.add("several");
  return [...acts];
}

const maxOptionChars = 1000;

/** Removes here-documents, except those that a shell reads. */
function withoutDocuments(command: string): string {
  if (!command.includes("<<")) return command;
  let end: string | undefined;
  const kept = command.split("\n").filter((line) => {
    if (end !== undefined) {
      if (line.trim() === end) end = undefined;
      return false;
    }
    const [, word] = /<<-?\s*["'\\]?([A-Za-z_]\w{0,63})/.exec(line.slice(0, 4096)) ?? [];
    if (word !== undefined && !/\b(?:(?:ba|z|da|k)?sh|ssh)\b[^|;&]*<</.test(line.slice(0, 4096))) end = word;
    return true;
  });
  return kept.join("\n");
}

/** Agents name a shell command like this in a tool's input. */
const commandKeys = ["command", "cmd", "script", "commands", "CommandLine", "input"];

/** @param input fields, JSON of such, or the command itself */
export function readActs(name: string, input: unknown): Act[] {
  if (/(?:^|[_.-])create_(?:pull|merge)_request$/.test(name.slice(-256))) return ["pull-request-tool"];
  const fields = typeof input === "string" && input.startsWith("{") ? parse(input) : input;
  if (!isFields(fields)) return typeof input === "string" ? actsOfCommand(input) : [];
  const acts: Act[] = [];
  for (const key of commandKeys)
    if (fields[key] !== undefined)
      for (const command of commandsIn(fields[key]))
        for (const act of actsOfCommand(command)) if (!acts.includes(act)) acts.push(act);
  return acts;
}

function commandsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (!Array.isArray(value)) return [];
  const texts = value.filter((part) => typeof part === "string").slice(0, 100);
  return [texts.join(" "), ...texts];
}

/** No script is longer, and searching millions of characters overflows the stack. */
const maxScriptChars = 500_000;

/** Newer versions of Codex call tools by a script (`exec`). */
export function commandsOfScript(script: string): string | undefined {
  if (script.length > maxScriptChars || !/\b(?:git|gh|glab)\b/.test(script)) return undefined;
  const quoted = script.matchAll(/\bcmd["']?\s*:\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`)/g);
  const commands = [...quoted].map(([, text = ""]) => text.slice(1, -1).replace(/\\n/g, "\n").replace(/\\(.)/g, "$1"));
  return commands.length > 0 ? commands.join("\n") : undefined;
}

/** A script prints `{"output": …}` lines, the same as the `value` of a promise, or plain text. */
export function outputsOfScript(text: string): string[] {
  const outputs = text.split("\n").flatMap((line) => {
    const parsed = line.startsWith("{") ? parse(line) : undefined;
    const chunk = isFields(parsed) && isFields(parsed.value) ? parsed.value : parsed;
    return isFields(chunk) && typeof chunk.output === "string" ? [chunk.output] : [];
  });
  return outputs.length > 0 ? outputs : [text];
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
