import { findSecrets, type Secret } from "#lib/secrets/find";
import { placeholderOf } from "#lib/secrets/mark";

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
  replaceSecrets(text, findSecrets(text), (kind) => placeholderOf(kind));

/** What becomes of values at more levels than a caller wants; by default those that no JSON here has stay as they are. */
export type Deep = { levels: number; change: (value: object) => unknown };
const keepDeep: Deep = { levels: 100, change: (value) => value };

type Changes = { text: (text: string) => string; deep: Deep };

/**
 * A value of JSON with each text in it, but for the names of fields, replaced by what `change` makes of it. The same value where
 * nothing is changed: a line of a session may have millions of values.
 */
export function changeTexts<T>(value: T, change: (text: string) => string, deep = keepDeep): T {
  return changed(value, { text: change, deep }, 0) as T;
}

function changed(value: unknown, changes: Changes, depth: number): unknown {
  if (typeof value === "string") return changes.text(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth > changes.deep.levels) return changes.deep.change(value);
  return Array.isArray(value)
    ? changedList(value, changes, depth)
    : changedFields(value as Record<string, unknown>, changes, depth);
}

function changedList(list: unknown[], changes: Changes, depth: number): unknown[] {
  let copy: unknown[] | undefined;
  for (let index = 0; index < list.length; index++) {
    const now = changed(list[index], changes, depth + 1);
    if (now === list[index]) continue;
    copy ??= [...list];
    copy[index] = now;
  }
  return copy ?? list;
}

function changedFields(fields: Record<string, unknown>, changes: Changes, depth: number) {
  let copy: Record<string, unknown> | undefined;
  for (const key in fields) {
    const now = changed(fields[key], changes, depth + 1);
    if (now === fields[key]) continue;
    copy ??= { ...fields };
    copy[key] = now;
  }
  return copy ?? fields;
}
