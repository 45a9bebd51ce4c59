import { eachInSlices } from "#lib/concurrency/slices";
import { maskValueForOthers } from "#lib/secrets/json";
import { maskForOthers } from "#lib/secrets/mask";
import { beginsBehind, nameCharacter, withoutHomes } from "#lib/traces/homes";

/** Both positions are inclusive; null is that end of the session. */
export type SharedRange = { from: number | null; to: number | null };

export const wholeRange: SharedRange = { from: null, to: null };

export const isWithin = ({ from, to }: SharedRange, position: number): boolean =>
  (from === null || position >= from) && (to === null || position <= to);

/** Accounts that are nobody's. */
const nobodys =
  /^(?:user|users|runner|node|root|ubuntu|debian|vscode|codespace|admin|app|dev|test|code|work|home|shared|public|default|git|jenkins|circleci|vagrant|agent|build|builder|claude|codex|sandbox|ec2-user|azureuser|page|staff|wheel|sudo|adm|docker|www-data|daemon|.{1,2})$/i;
/** A shell prompt, `name@machine:~/api$`. After a backslash, the first letter belongs to an escape. */
const prompts =
  /(?<![\w.@/-])(?:(?<=\\)[bfnrt])?([a-z_][\w.-]{0,31}@[a-z][\w.-]{0,62})(?=:(?:~|\/)[^\s$#]{0,200}[$#] )/gi;
/** Commands that may name another machine and a user: `ssh -p 22 name@machine`, `scp api.tgz name@machine:/srv`. */
const remoteCommands = /(?<![\w-])(?:ssh|scp|sftp|mosh|rsync)[ \t][^\n|;&]{0,200}/gi;
const logins = /(?<![\w.@/:-])([a-z_][\w.-]{0,31})@[a-z\d][\w.-]{0,62}/gi;
/** Users and groups in the output of `ls -l` and `id`. */
const owners =
  /((?:(?<![\w-])|(?<=\\n))[-bcdlps](?:[r-][w-][xsStT-]){3}[.@+]? {1,4}\d{1,7} {1,4})(\S{1,64})( {1,32})(\S{1,64})(?= {1,16}\d)/g;
const ids = /\b([ug]id=\d{1,10}|(?<==|,)\d{1,10})\(([^()\s]{1,64})\)/g;
/** `~ada/api`. */
const tildes = /(?<![\w.~^/\\-])~([a-z_][\w-]{2,31})(?=\/)/gi;
const variables = new RegExp(
  `(USER|LOGNAME|USERNAME|HOSTNAME|COMPUTERNAME)=(?<=${beginsBehind(String.raw`\w`)}\\1=)["']?[${nameCharacter}.\\-]{1,64}`,
  "gu",
);
const maxNames = 5;

/**
 * Replaces possible secrets by `[redacted:KIND]` and home folders by `~`, and removes names of users and machines
 * found in paths, file lists, prompts, variables and remote logins.
 * @param names known names of people; those found are added
 */
export function textForOthers(text: string, machines: readonly string[] = [], names = new Set<string>()): string {
  let shown = withoutHomes(maskForOthers(text), (name) => {
    if (names.size < maxNames && !nobodys.test(name)) names.add(name);
  });
  if (shown.includes("@")) {
    shown = shown.replace(prompts, (all, prompt: string) => all.replace(prompt, "[user]@[machine]"));
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
  for (const name of names) shown = withoutWord(shown, name, "[user]");
  for (const name of machines) if (!nobodys.test(name)) shown = withoutWord(shown, name, "[machine]");
  return shown;
}

const unlessNobody = (name: string): string => (nobodys.test(name) || /^\d+$/.test(name) ? name : "[user]");

const hides = (variable: string): string => (/^(?:HOST|COMPUTER)NAME$/.test(variable) ? "machine" : "user");

const wordBegins = beginsBehind(String.raw`${nameCharacter}\-`);

function withoutWord(text: string, word: string, shown: string): string {
  if (!text.includes(word)) return text;
  const escaped = RegExp.escape(word);
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
