// What strangers see of a session: readers of a share link, and whoever is sent its Markdown.
import { maskValueForOthers } from "#lib/secrets/json";
import { maskForOthers } from "#lib/secrets/mask";

/** The part of a session that is shown: both positions are in it; without one it goes to that end. */
export type Range = { from: number | null; to: number | null };

export const wholeRange: Range = { from: null, to: null };

export const isWithin = ({ from, to }: Range, position: number): boolean =>
  (from === null || position >= from) && (to === null || position <= to);

/** A home folder, whose name is a person's: also with the doubled backslashes of JSON in a text. */
const homes =
  /(?<![\w.~-])(?:\/(?:home|Users)\/|[A-Za-z]:(?:\\{1,4}|\/)Users(?:\\{1,4}|\/))[\w.@-]+(?:(?=[/\\])|(?![\w.@-]))/g;

/** Names of accounts that are no person's. */
const nobodys =
  /^(?:user|users|runner|node|root|ubuntu|debian|vscode|codespace|admin|app|dev|test|code|work|home|shared|public|default|git|jenkins|circleci|vagrant|.{1,2})$/i;
/** `name@machine:~/api$`, as a shell asks. */
const prompts = /(?<![\w.@/-])[a-z_][\w.-]{0,31}@[a-z][\w.-]{0,62}(?=:(?:~|\/)[^\s$#]{0,200}[$#] )/gi;
const variables = /(?<!\w)(USER|LOGNAME|USERNAME|HOSTNAME|COMPUTERNAME)=["']?[\w.-]{1,64}/g;
/** So many names of people are looked for in a text. */
const maxNames = 5;

/**
 * A text with `[redacted:KIND]` for what may be a secret, `~` for each home folder, and without the names of users and machines that
 * are known from folders in it, a shell's prompts and variables.
 *
 * @param machines names of machines that are known otherwise.
 */
export function textForOthers(text: string, machines: readonly string[] = []): string {
  const names = new Set<string>();
  let shown = maskForOthers(text).replace(homes, (home) => {
    const name = /[\w.@-]+$/.exec(home)?.[0] ?? "";
    if (names.size < maxNames && !nobodys.test(name)) names.add(name);
    return "~";
  });
  if (shown.includes("@")) shown = shown.replace(prompts, "[user]@[machine]");
  if (shown.includes("=")) shown = shown.replace(variables, (_, name: string) => `${name}=[${hides(name)}]`);
  for (const name of names) shown = withoutWord(shown, name, "[user]");
  for (const name of machines) if (!nobodys.test(name)) shown = withoutWord(shown, name, "[machine]");
  return shown;
}

const hides = (variable: string): string => (/^(?:HOST|COMPUTER)NAME$/.test(variable) ? "machine" : "user");

const withoutWord = (text: string, word: string, shown: string): string =>
  text.includes(word) ? text.replaceAll(new RegExp(`(?<![\\w-])${RegExp.escape(word)}(?![\\w-])`, "g"), shown) : text;

/** How many home folders a text names. */
export const countHomes = (text: string): number => text.match(homes)?.length ?? 0;

type Texts = { role?: string | null; content: string; metadata: Record<string, unknown> | null };

/** A message as others see it. @param mask what is hidden: by default all that `textForOthers` hides */
export function forOthers<M extends Texts>(message: M, mask: (text: string) => string = allHidden): M {
  const { role, content, metadata } = message;
  return {
    ...message,
    ...(role && { role: mask(role) }),
    content: mask(content),
    metadata: maskValueForOthers(metadata, mask),
  };
}

const allHidden = (text: string): string => textForOthers(text);
