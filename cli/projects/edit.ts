import { statSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { isWrittenByWindows } from "../../lib/evidence/spelling.ts";
import type { Host } from "../adapters/adapter.ts";
import { CommandError } from "../errors.ts";
import { escapeGlob } from "./globs.ts";
import { foldHome, getGlob, type ProjectRule } from "./rules.ts";

/**
 * A glob as it is kept in the settings: paths are absolute or begin with `~`, and have slashes. What is relative belongs to the
 * current folder, as in every command; a name without a slash is a project's.
 *
 * @throws CommandError `usage` where it can't be meant so
 */
export function normalizeGlob(given: string, host: Host): string {
  const text = given.trim();
  if (text === "") throw new CommandError("usage", "A project's glob is empty.");
  if (text.startsWith("!")) {
    const meant = text.slice(1);
    throw new CommandError(
      "usage",
      `A glob can't begin with "!". To send "${meant}" again, use: projects include ${meant}`,
    );
  }
  const isHere = /^\.{1,2}(?:[\\/]|$)/.test(text) || (/[\\/]/.test(text) && !/^(?:[~/\\]|\*\*|[A-Za-z]:)/.test(text));
  if (!isHere)
    return trimSlashes(
      escapeExistingFolder(text, host) ??
        (isWrittenByWindows(text) || text.startsWith("~\\") ? text.replaceAll("\\", "/") : foldHome(text, host)),
    );
  const whole = `${escapeGlob(host.cwd)}/${host.platform === "win32" ? text.replaceAll("\\", "/") : text}`;
  return trimSlashes(escapeExistingFolder(text, host) ?? foldHome(simplify(whole), host));
}

/** A folder that exists is meant as it is, also with brackets in its name. */
function escapeExistingFolder(text: string, host: Host): string | undefined {
  const path = text.replace(/^~(?=[\\/]|$)/, () => host.home);
  if (!/[\\/]|^\.{1,2}$/.test(path) || /[*?]/.test(path)) return undefined;
  const whole = isAbsolute(path) ? path : resolve(host.cwd, path);
  if (!statSync(whole, { throwIfNoEntry: false })?.isDirectory()) return undefined;
  return escapeGlob(foldHome(whole, host).replaceAll(host.platform === "win32" ? "\\" : "/", "/"));
}

/** A path without `.` and `..`. */
function simplify(path: string): string {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== ".") parts.push(part);
  }
  return parts.join("/") || "/";
}

const trimSlashes = (glob: string): string => (glob.length > 1 ? glob.replace(/\/+$/, "") || "/" : glob);

/**
 * Adds rules; the last one that matches counts, so an earlier one for the same glob goes. An `include` on a machine without
 * rules means these alone.
 */
export function addRules(
  rules: readonly ProjectRule[],
  action: "include" | "exclude",
  globs: readonly string[],
): ProjectRule[] {
  const ruleFor = (glob: string): ProjectRule => (action === "include" ? { include: glob } : { exclude: glob });
  const isAll = globs.some((glob) => glob === "*" || glob === "**");
  // All before it would never count.
  if (isAll) return action === "include" ? [] : [{ exclude: "**" }];
  const before = rules.length === 0 && action === "include" ? [{ exclude: "**" }] : rules;
  return [...before.filter((rule) => !globs.includes(getGlob(rule))), ...globs.map(ruleFor)];
}
