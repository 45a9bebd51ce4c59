import { escapePattern } from "#common/escape-pattern";
import { maskForOthers, maskValueForOthers } from "#common/secrets/mask";
import { eachInSlices } from "#lib/core/concurrency/slices";
import { beginsAfter, nameCharacter, withoutHomes } from "#lib/masking/home-folders";

/** Both positions are inclusive; null is that end of the session. */
export type SharedRange = { from: number | null; to: number | null };

export type Sharing = SharedRange & { masked: boolean; pictures?: boolean };

export const wholeRange: SharedRange = { from: null, to: null };

export const isWithin = ({ from, to }: SharedRange, position: number): boolean =>
  (from === null || position >= from) && (to === null || position <= to);

/** Names of system accounts, which identify nobody. */
const nobodys =
  /^(?:user|users|runner|node|root|ubuntu|debian|vscode|codespace|admin|app|dev|test|code|work|home|shared|public|default|git|jenkins|circleci|vagrant|agent|build|builder|claude|codex|sandbox|ec2-user|azureuser|page|staff|wheel|sudo|adm|docker|www-data|daemon|nobody|postgres|mysql|redis|nginx|sshd|syslog|message\S*|dbus|polkitd|reboot|systemd\S*|_\w+|.{1,2})$/i;
const login = String.raw`(?:(?<![\w.@\/-])(?:(?<=\\)[bfnrt])?|(?<=\[[\d;]{0,8}m))([a-z_][\w.-]{0,31}[@㉿][a-z][\w.-]{0,62})`;
const colors = String.raw`(?:(?:\p{Cc}|\\{1,3}(?:u001b|x1b|033|e))\[[\d;]{0,8}m){0,3}`;
/** These are `name@machine:~/api$`, `name@machine api %`, `[name@machine api]$`, and prompts of Git for Windows. */
const prompts = Object.entries({
  ":": String.raw`${login}(?=${colors}:${colors}(?:~|\/)[^\s$#]{0,200}[$#] )`,
  " % ": String.raw`(?<=(?:^|\n|\\n|"|\) )${colors})${login}(?= [^\s%]{1,100} % )`,
  "]": String.raw`(?<=\[)${login}(?= [^\]\s]{1,100}\][$#%])`,
  " ": `${login}(?=${colors} ${colors}(?:MINGW|UCRT|CLANG|MSYS))`,
  "─": String.raw`(?<=[╭┌]─{1,2}\(?)${login}`,
  AAAA: String.raw`(?<=ssh-(?:ed25519|rsa) AAAA[\w+\/]{40,800}={0,2} )${login}`,
}).map(([sign, pattern]) => ({ sign, pattern: new RegExp(pattern, "giu") }));
const remoteCommands = /(?<![\w-])(?:ssh|scp|sftp|mosh|rsync)[ \t][^\n|;&]{0,200}/gi;
const logins = /(?<![\w.@/:-])([a-z_][\w.-]{0,31})@[a-z\d][\w.-]{0,62}/gi;
const owners =
  /((?:(?<![\w-])|(?<=\\n))[-bcdlps](?:[r-][w-][xsStT-]){3}[.@+]? {1,4}\d{1,7} {1,4})(\S{1,64})( {1,32})(\S{1,64})(?= {1,16}\d)/g;
const ids = /\b([ug]id=\d{1,10}|(?<==|,)\d{1,10})\(([^()\s]{1,64})\)/g;
const lineStart = String.raw`(?<=^|\n|\\n|")`;
/** Users in the output of `ps aux`, `ps -ef`, `who`, `w`, `last`, `top` and `whoami`. */
const outputColumns = [
  String.raw`${lineStart}([^\s"]{1,32})(?= {1,16}\d{1,8} {1,4}(?:\d{1,4}\.\d {1,4}){2}\d{1,12} {1,12}\d)`,
  String.raw`${lineStart}([^\s"]{1,32})(?= {1,16}\d{1,8} {1,8}\d{1,8} {1,4}\d{1,3} {1,4}[\w:]{4,8} {1,4}(?:\?|pts\/|tty|console))`,
  String.raw`${lineStart}([^\s"]{1,32})(?= {1,16}(?:pts\/\d|ttys?\d|console {2}|seat\d|:\d{1,2} ))`,
  String.raw`(?<=(?:^|\n|\\n|") {0,8}\d{1,8} {1,4})(\S{1,32})(?= {1,16}(?:rt|-?\d{1,3}) {1,4}-?\d{1,2} {1,4}[\d.]+[kmgt]? {1,4}[\d.]+[kmgt]? )`,
  String.raw`(?<=\bwhoami[ \t;]{0,4}(?:\r?\n|\\n)(?:[a-z][\w-]{0,62}\\{1,4})?)([a-z_][\w.-]{0,31})(?=[ \t]*(?:\r?\n|\\n|"|$))`,
].map((pattern) => new RegExp(pattern, "gi"));
/** Only a text with one of these has such columns. */
const outputWords = /pts\/|\btty|console|whoami|\d\.\d {1,4}\d|seat\d| :\d|\b[RSDZTI] {1,4}\d/;
/** `~ada/api`. */
const tildes = /(?<![\w.~^/\\-])~([a-z_][\w-]{2,31})(?=\/)/gi;
const variables = new RegExp(
  `(USER|LOGNAME|USERNAME|HOSTNAME|COMPUTERNAME)=(?<=${beginsAfter(String.raw`\w`)}\\1=)["']?[${nameCharacter}.\\-]{1,64}`,
  "gu",
);
const maxNames = 5;

/**
 * Replaces possible secrets by `[redacted:KIND]` and home folders by `~`, and removes names of users and machines.
 * @param hidden.owners are hidden as separate words and in columns
 * @param names known names of people; those found are added
 */
export function textForOthers(
  text: string,
  { machine, owners: people }: HiddenNames = noNames,
  names = new Set<string>(),
): string {
  let shown = withoutHomes(maskForOthers(text), (name) => {
    if (names.size < maxNames && !nobodys.test(name)) names.add(name);
  });
  if (shown.includes("@") || shown.includes("㉿")) {
    for (const { sign, pattern } of prompts)
      if (shown.includes(sign))
        shown = shown.replace(pattern, (all, own: string) => all.replace(own, "[user]@[machine]"));
    shown = shown.replace(remoteCommands, (command) =>
      command.replace(logins, (login, name: string) => (nobodys.test(name) ? login : "[user]@[machine]")),
    );
  }
  if (shown.includes("~")) shown = shown.replace(tildes, (all, name: string) => (nobodys.test(name) ? all : "~[user]"));
  if (shown.includes("=")) shown = shown.replace(variables, (_, name: string) => `${name}=[${hides(name)}]`);
  if (shown.includes("rw"))
    shown = shown.replace(owners, (_, ahead: string, owner: string, blanks: string, group: string) =>
      [ahead, unlessNobody(owner), blanks, unlessNobody(group)].join(""),
    );
  if (shown.includes("id="))
    shown = shown.replace(ids, (_, id: string, name: string) => `${id}(${unlessNobody(name)})`);
  if (outputWords.test(shown))
    for (const column of outputColumns) shown = shown.replace(column, (_, name: string) => unlessNobody(name));
  for (const name of names) shown = withoutWord(shown, name, "[user]");
  for (const name of people)
    if (shown.includes(name.slice(0, 7))) shown = shown.replace(findOwnerColumn(name), "[user]");
  if (machine && !nobodys.test(machine)) {
    // Windows writes it in capitals, and its `whoami` in small letters.
    for (const spelling of new Set([machine, machine.toLowerCase(), machine.toUpperCase()]))
      shown = withoutWord(shown, spelling, "[machine]");
  }
  return shown;
}

export type HiddenNames = { machine: string | null; owners: readonly string[] };
const noNames: HiddenNames = { machine: null, owners: [] };

export function readHiddenNames(trace: { machine: string | null; project?: unknown; metadata?: unknown }): HiddenNames {
  const owners = new Set<string>();
  withoutHomes(JSON.stringify([trace.project, trace.metadata]), (name) => {
    if (owners.size < maxNames && !nobodys.test(name)) owners.add(name);
  });
  return { machine: trace.machine, owners: [...owners] };
}

/** `ps` cuts long names to seven letters. */
const findOwnerColumn = (name: string) =>
  new RegExp(
    String.raw`(?<=(?:^|\n|\\n|")[ \t]{0,8}(?:\d{1,8}[ \t]{1,4})?)(?:${escapePattern(name)}|${escapePattern(name.slice(0, 7))}\+)(?=[ \t]*(?:$|[\r\n"]|\\[nrt]|:[ \t])|[ \t]{2}|\t|[ \t](?:\d|pts|tty|console|:))`,
    "g",
  );

const unlessNobody = (name: string): string => (nobodys.test(name) || /^\d+$/.test(name) ? name : "[user]");

const hides = (variable: string): string => (/^(?:HOST|COMPUTER)NAME$/.test(variable) ? "machine" : "user");

const wordBegins = beginsAfter(String.raw`${nameCharacter}\-`);

function withoutWord(text: string, word: string, shown: string): string {
  if (!text.includes(word)) return text;
  const escaped = escapePattern(word);
  return text.replaceAll(new RegExp(`${escaped}(?![${nameCharacter}-])(?<=${wordBegins}${escaped})`, "gu"), shown);
}

type Texts = { role?: string | null; content: string; metadata: Record<string, unknown> | null };

export function forOthers<M extends Texts>(message: M, mask: (text: string) => string = allHidden): M {
  const { role, content, metadata } = message;
  return {
    ...message,
    ...(role && { role: mask(role) }),
    content: mask(content),
    metadata: maskValueForOthers(metadata, mask),
  };
}

/** @throws SpoorError `overloaded` if a message takes too long */
export async function allForOthers<M extends Texts>(messages: M[], mask: (text: string) => string): Promise<M[]> {
  const shown: M[] = [];
  await eachInSlices(messages, (message) => shown.push(forOthers(message, mask)));
  return shown;
}

const allHidden = (text: string): string => textForOthers(text);
