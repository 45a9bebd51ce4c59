// Home folders contain people's names.

/** Escapes of JSON, JavaScript or a URL, and terminal colors, count as a blank before a word. */
const afterEscape = String.raw`(?<=\\[bfnrtv]|\\u[\da-fA-F]{4}|\\x[\da-fA-F]{2}|\[[\d;]{0,8}m|%[\da-fA-F]{2})`;

export const beginsAfter = (none: string): string => `(?:(?<![${none}])|${afterEscape})`;

/** In any script. */
export const nameCharacter = String.raw`\p{L}\p{N}\p{M}_`;
const name = String.raw`(?:[${nameCharacter}.@\-]|%(?!2F|5C|22)[\da-fA-F]{2})*[${nameCharacter}]`;
const forward = String.raw`(?:\\{0,7}\/|%2F)`;
const slash = String.raw`(?:\\{1,8}\/?|\/|%2F|%5C)`;
const unixAhead = [
  `(?:${forward}(?:mnt|cygdrive))?${forward}[a-z](?=${slash}Users)`,
  `${slash}(?:var|usr|export|private|data|mnt|net|nfs|System${slash}Volumes${slash}Data|Volumes${slash}[\\w\\\\ -]{1,40})`,
  String.raw`${slash}{0,2}wsl(?:\$|\.localhost|\+|%2B)[\w.\-]{0,40}(?:${slash}[\w.\-]{1,40})?`,
].join("|");
const begins = beginsAfter(String.raw`${nameCharacter}.~\-`);
/** Lookbehind from the word. */
const ahead = (pattern: string) => new RegExp(`(?<=(${begins}${pattern}))`, "uy");
const heads = {
  unix: ahead(`(?:${unixAhead})?${slash}`),
  windows: ahead(`[A-Za-z](?::|%3A)${slash}`),
  /** Claude Code's folder names for projects: `-home-ada-api`, `C--Users-ada-api`. */
  dashed: ahead("(?:[A-Za-z]-)?-"),
};
const names = {
  unix: new RegExp(`${slash}(${name})`, "uy"),
  /** Windows and macOS allow blanks in names, which shells escape with a backslash. */
  users: new RegExp(String.raw`${slash}(${name}(?:\\{0,4} ${name}){1,2}(?=[\\/])|${name})`, "uy"),
  dashed: new RegExp(`-([${nameCharacter}]+)`, "uy"),
};
const folders = /home|[Uu]sers/g;

type Home = { from: number; to: number; name: string; isDashed: boolean };

function* homesIn(text: string): Generator<Home> {
  let read = 0;
  for (const { 0: folder, index } of text.matchAll(folders)) {
    const sign = text.charAt(index - 1);
    if (index <= read || !"-/\\FC".includes(sign)) continue;
    for (const kind of sign === "-" ? (["dashed"] as const) : (["windows", "unix"] as const)) {
      if (folder === "users" && kind !== "windows") continue;
      const [from = -1, to = 0, own = ""] = homeAt(text, kind, index, index + folder.length);
      if (from < read) continue;
      yield { from: kind === "dashed" ? to - own.length : from, to, name: own, isDashed: kind === "dashed" };
      read = to;
      break;
    }
  }
}

function homeAt(text: string, kind: keyof typeof heads, start: number, end: number): [number, number, string] | [] {
  heads[kind].lastIndex = start;
  const head = heads[kind].exec(text)?.[1];
  if (head === undefined) return [];
  const named = kind === "dashed" ? names.dashed : names[text.startsWith("home", start) ? "unix" : "users"];
  named.lastIndex = end;
  const [rest = "", own = ""] = named.exec(text) ?? [];
  return own === "" ? [] : [start - head.length, end + rest.length, own];
}

/** @param seen receives each name */
export function withoutHomes(text: string, seen: (name: string) => void): string {
  let [shown, at] = ["", 0];
  const dotted = new Map<string, string>();
  for (const { from, to, name: own, isDashed } of homesIn(text)) {
    if (!isDashed) seen(own);
    const [first = own] = own.split(/\\* /);
    // Other words or a path may follow a name.
    if (!isDashed && first !== own) seen(first);
    if (!isDashed && own.includes(".")) dotted.set(own.slice(0, own.indexOf(".")), own.replaceAll(".", "-"));
    const whole = isDashed ? dotted.get(own) : undefined;
    const end = whole && text.startsWith(whole, from) ? from + whole.length : to;
    shown += text.slice(at, from) + (isDashed ? "[user]" : "~");
    at = end;
  }
  return at === 0 ? text : shown + text.slice(at);
}

export const countHomes = (text: string): number => [...homesIn(text)].length;
