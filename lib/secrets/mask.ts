import { findSecrets, type Secret } from "#lib/secrets/find";
import { makePlaceholder } from "#lib/secrets/mark";

/** A text with each of its given secrets, in their order, replaced by what `replacement` makes of its kind and value. */
export function replaceSecrets(
  text: string,
  secrets: readonly Secret[],
  replacement: (kind: string, value: string) => string,
): string {
  let masked = "";
  let at = 0;
  for (const { kind, start, end } of secrets) {
    masked += text.slice(at, start) + replacement(kind, text.slice(start, end));
    at = end;
  }
  return masked + text.slice(at);
}

/**
 * A text as others may see it (shares, exports for others, agents that search): all that may be a secret becomes
 * `[redacted:KIND]`, also what is only likely to be one.
 */
export const maskForOthers = (text: string): string =>
  replaceSecrets(text, findSecrets(text), (kind) => makePlaceholder(kind));

/** What becomes of values at more levels than a caller wants; by default those that no JSON here has stay as they are. */
export type DeepValues = { levels: number; change: (value: object) => unknown };
const keepDeep: DeepValues = { levels: 100, change: (value) => value };

type Changes = { text: (text: string) => string; name: (name: string) => string; deep: DeepValues };

/**
 * A value of JSON with each text in it, and each name of a field, replaced by what `change` makes of it. The same value where
 * nothing is changed: a line of a session may have millions of values.
 *
 * @param name what becomes of names, where that is not the same.
 */
export function changeTexts<T>(value: T, change: (text: string) => string, deep = keepDeep, name = change): T {
  return changeValue(value, { text: change, name, deep }, 0) as T;
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

/** Fields under changed names. Of several that become equal, all but the first have a number behind them. */
function renameFields(fields: Record<string, unknown>, change: (name: string) => string): Record<string, unknown> {
  const taken = new Set<string>();
  const counts = new Map<string, number>();
  const named = Object.entries(fields).map(([key, value]) => {
    const name = change(key);
    let unique = name;
    for (let count = counts.get(name) ?? 1; taken.has(unique); counts.set(name, count)) {
      count += 1;
      unique = `${name} (${count})`;
    }
    taken.add(unique);
    return [unique, value] as const;
  });
  return Object.fromEntries(named);
}
