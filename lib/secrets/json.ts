// Secrets in a value of JSON: in its texts and names, and those that only what stands beside a text tells of.
import { findSecrets, type Secret } from "#lib/secrets/find";
import { makePlaceholder } from "#lib/secrets/mark";
import { changeTexts, type DeepValues } from "#lib/secrets/mask";

type Replacement = (kind: string, value: string) => string;

/** A value of JSON as others may see it. @param mask hides what others are not to see in one text */
export const maskValueForOthers = <T>(value: T, mask: (text: string) => string, deep?: DeepValues): T =>
  maskByContext(changeTexts(value, mask, deep), findSecrets, (kind) => makePlaceholder(kind));

/**
 * A value of JSON without the secrets that are found in it as JSON: known by the name of their field, by other fields, or over
 * several texts of a list. The same value where there are none. Names stay as they are.
 */
export function maskByContext<T>(value: T, find: (json: string) => Secret[], replacement: Replacement): T {
  const json = JSON.stringify(value);
  const secrets = json === undefined ? [] : find(json);
  return secrets.length === 0 ? value : (JSON.parse(replaceInTexts(json, secrets, replacement)) as T);
}

/** A part of JSON that is in one of its texts, as that text has it. */
export function unescapeText(json: string): string {
  return parsed(json) ?? json;
}

function parsed(inside: string): string | undefined {
  if (!inside.includes("\\")) return inside;
  try {
    return JSON.parse(`"${inside}"`) as string;
  } catch {
    return undefined; // It ends within an escape.
  }
}

function replaceInTexts(json: string, secrets: readonly Secret[], replacement: Replacement): string {
  let [masked, at, next, replaced] = ["", 0, 0, -1];
  for (const [from, to] of findTexts(json)) {
    while ((secrets[next]?.end ?? Number.POSITIVE_INFINITY) <= from) next += 1;
    if (next === secrets.length) break;
    if (json[to + 1] === ":") continue;
    let [text, read, last] = ["", from, ""];
    for (let index = next; index < secrets.length; index += 1) {
      const { kind, start, end } = secrets[index] as Secret;
      if (start >= to) break;
      const [first, behind] = [Math.max(from, start), Math.min(to, end)];
      text += json.slice(read, first);
      // Of a secret in several texts the first has what stands for it.
      if (index > replaced) last = replacement(kind, unescapeText(json.slice(first, behind)));
      if (index > replaced) text += last;
      replaced = index;
      read = behind;
    }
    if (read === from) continue;
    text += json.slice(read, to);
    masked += json.slice(at, from) + (parsed(text) === undefined ? last : text);
    at = to;
  }
  return masked + json.slice(at);
}

/** Where the texts and names in JSON stand, without their quotes. */
function* findTexts(json: string): Generator<[from: number, to: number]> {
  for (let start = json.indexOf('"'); start >= 0; ) {
    let end = json.indexOf('"', start + 1);
    while (isEscaped(json, end)) end = json.indexOf('"', end + 1);
    yield [start + 1, end];
    start = json.indexOf('"', end + 1);
  }
}

/** Whether an odd number of backslashes stands before a place. */
function isEscaped(json: string, at: number): boolean {
  let before = at;
  while (json.charCodeAt(before - 1) === 0x5c) before -= 1;
  return (at - before) % 2 === 1;
}
