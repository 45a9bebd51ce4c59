import { findSecrets, type Secret } from "#common/secrets/find-secrets";
import { makePlaceholder } from "#common/secrets/kinds";

type Replacement = (kind: string, value: string) => string;

export function replaceSecrets(text: string, secrets: readonly Secret[], replacement: Replacement): string {
  let masked = "";
  let at = 0;
  for (const { kind, start, end } of secrets) {
    masked += text.slice(at, start) + replacement(kind, text.slice(start, end));
    at = end;
  }
  return masked + text.slice(at);
}

export const maskForOthers = (text: string): string =>
  replaceSecrets(text, findSecrets(text), (kind) => makePlaceholder(kind));

export type DeepValues = { levels: number; change: (value: object) => unknown };
const keepDeep: DeepValues = { levels: 100, change: (value) => value };

type Changes = { text: (text: string) => string; name: (name: string) => string; deep: DeepValues };

/** A line of a session may have millions of values, so an unchanged value is returned itself. */
export function changeTexts<T>(value: T, change: (text: string) => string, deep = keepDeep, changeName = change): T {
  return changeValue(value, { text: change, name: changeName, deep }, 0) as T;
}

function changeValue(value: unknown, changes: Changes, depth: number): unknown {
  if (typeof value === "string") return changes.text(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth > changes.deep.levels) return changes.deep.change(value);
  return Array.isArray(value)
    ? changeList(value, changes, depth)
    : changeFields(value as Record<string, unknown>, changes, depth);
}

function changeList(list: unknown[], changes: Changes, depth: number): unknown[] {
  let copy: unknown[] | undefined;
  for (let index = 0; index < list.length; index++) {
    const now = changeValue(list[index], changes, depth + 1);
    if (now === list[index]) continue;
    copy ??= [...list];
    copy[index] = now;
  }
  return copy ?? list;
}

function changeFields(fields: Record<string, unknown>, changes: Changes, depth: number) {
  let copy: Record<string, unknown> | undefined;
  let isRenamed = false;
  for (const key in fields) {
    isRenamed ||= changes.name(key) !== key;
    const now = changeValue(fields[key], changes, depth + 1);
    if (now === fields[key]) continue;
    copy ??= { ...fields };
    copy[key] = now;
  }
  return isRenamed ? renameFields(copy ?? fields, changes.name) : (copy ?? fields);
}

/** Names that become equal get a number, except the first. */
function renameFields(fields: Record<string, unknown>, change: (name: string) => string): Record<string, unknown> {
  const taken = new Set<string>();
  const counts = new Map<string, number>();
  const renamed = Object.entries(fields).map(([key, value]) => {
    const name = change(key);
    let unique = name;
    for (let count = counts.get(name) ?? 1; taken.has(unique); counts.set(name, count)) {
      count += 1;
      unique = `${name} (${count})`;
    }
    taken.add(unique);
    return [unique, value] as const;
  });
  return Object.fromEntries(renamed);
}

export const maskValueForOthers = <T>(value: T, mask: (text: string) => string, deep?: DeepValues): T =>
  maskByContext(changeTexts(value, mask, deep), findSecrets, (kind) => makePlaceholder(kind));

/** Some secrets are found only in a value's JSON: by a field's name, by another field, or over several texts of a list. */
export function maskByContext<T>(value: T, find: (json: string) => Secret[], replacement: Replacement): T {
  const json = JSON.stringify(value);
  const secrets = json === undefined ? [] : find(json);
  return secrets.length === 0 ? value : (JSON.parse(replaceInTexts(json, secrets, replacement)) as T);
}

export function unescapeText(json: string): string {
  return parseText(json) ?? json;
}

function parseText(inside: string): string | undefined {
  if (!inside.includes("\\")) return inside;
  try {
    return JSON.parse(`"${inside}"`) as string;
  } catch {
    return undefined;
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
      // A secret over several texts is replaced in the first of them.
      if (index > replaced) last = replacement(kind, unescapeText(json.slice(first, behind)));
      if (index > replaced) text += last;
      replaced = index;
      read = behind;
    }
    if (read === from) continue;
    text += json.slice(read, to);
    masked += json.slice(at, from) + (parseText(text) === undefined ? last : text);
    at = to;
  }
  return masked + json.slice(at);
}

function* findTexts(json: string): Generator<[from: number, to: number]> {
  for (let start = json.indexOf('"'); start >= 0; ) {
    let end = json.indexOf('"', start + 1);
    while (isEscaped(json, end)) end = json.indexOf('"', end + 1);
    yield [start + 1, end];
    start = json.indexOf('"', end + 1);
  }
}

function isEscaped(json: string, at: number): boolean {
  let before = at;
  while (json.charCodeAt(before - 1) === 0x5c) before -= 1;
  return (at - before) % 2 === 1;
}
