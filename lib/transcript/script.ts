// Newer versions of Codex call tools from scripts (`exec`).
import { type Fields, isFields } from "#common/evidence/text";
import type { Call } from "#lib/transcript/call";

type Called = { name: string; input: Fields };

const maxScriptChars = 200_000;
const maxCalls = 50;
const maxDepth = 8;

export function plainCall(call: Call): Call {
  const script = call.name === "exec" ? call.input.input : undefined;
  const calls = typeof script === "string" ? callsIn(script) : undefined;
  const [first] = calls ?? [];
  if (!calls || !first) return call;
  if (calls.length === 1) return { ...call, ...first };
  const commands = calls.flatMap(({ name, input }) =>
    name === "exec_command" && typeof input.cmd === "string" ? [input.cmd] : [],
  );
  return commands.length === calls.length ? { ...call, input: { command: commands.join("\n") } } : call;
}

/** Undefined if an argument depends on the script's execution. */
function callsIn(script: string): Called[] | undefined {
  if (script.length > maxScriptChars) return undefined;
  const calls: Called[] = [];
  for (const { 0: all, 1: name = "", index } of script.matchAll(/\btools\.(\w{1,128})\(/g)) {
    const read = readLiteral(script, index + all.length);
    if (!read || !/^\s*,?\s*\)/.test(script.slice(read.end, read.end + 100)) || calls.length === maxCalls)
      return undefined;
    calls.push({ name, input: isFields(read.value) ? read.value : { input: read.value } });
  }
  return calls;
}

type Read = { value: unknown; end: number };

function readLiteral(text: string, from: number, depth = 0): Read | undefined {
  const at = skipSpace(text, from);
  const char = text[at];
  if (char === undefined || depth > maxDepth) return undefined;
  if (char === '"' || char === "'" || char === "`") return readText(text, at);
  if (char === "{") return readList(text, at, "}", depth);
  if (char === "[") return readList(text, at, "]", depth);
  word.lastIndex = at;
  const [found] = word.exec(text) ?? [];
  if (found === undefined) return undefined;
  const value = found in words ? words[found as keyof typeof words] : Number(found);
  return { value, end: at + found.length };
}

const words = { true: true, false: false, null: null, undefined: undefined };
const word = /(?:true|false|null|undefined|-?\d+(?:\.\d+)?)(?![\w.$])/y;
const key = /[A-Za-z_$][\w$]*/y;
const quoted = /"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*'|`(?:[^`\\]|\\[\s\S])*`/y;

const skipSpace = (text: string, from: number): number => {
  let at = from;
  while (at < text.length && /\s/.test(text[at] as string)) at += 1;
  return at;
};

function readText(text: string, at: number): Read | undefined {
  quoted.lastIndex = at;
  const [found] = quoted.exec(text) ?? [];
  if (found === undefined || (found[0] === "`" && /(?<!\\)\$\{/.test(found))) return undefined;
  return { value: unescaped(found.slice(1, -1)), end: at + found.length };
}

const escapes: Record<string, string> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f", v: "\v", 0: "\0", "\n": "" };

const unescaped = (text: string): string =>
  text.replace(/\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([\s\S]))/g, (_, wide, narrow, one) =>
    one === undefined ? String.fromCharCode(Number.parseInt(wide ?? narrow, 16)) : (escapes[one] ?? one),
  );

function readList(text: string, from: number, end: "}" | "]", depth: number): Read | undefined {
  const entries: [string, unknown][] = [];
  let at = skipSpace(text, from + 1);
  while (text[at] !== end) {
    const name = end === "}" ? readKey(text, at) : { value: String(entries.length), end: at };
    const entry = name && readLiteral(text, name.end, depth + 1);
    if (!entry) return undefined;
    entries.push([name.value, entry.value]);
    at = skipSpace(text, entry.end);
    if (text[at] === ",") at = skipSpace(text, at + 1);
    else if (text[at] !== end) return undefined;
  }
  const value = end === "}" ? Object.fromEntries(entries) : entries.map(([, one]) => one);
  return { value, end: at + 1 };
}

function readKey(text: string, at: number): { value: string; end: number } | undefined {
  key.lastIndex = at;
  const [bare] = key.exec(text) ?? [];
  const name = bare === undefined ? readText(text, at) : { value: bare, end: at + bare.length };
  if (!name) return undefined;
  const colon = skipSpace(text, name.end);
  return text[colon] === ":" ? { value: String(name.value), end: colon + 1 } : undefined;
}
