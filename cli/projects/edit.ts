import { statSync } from "node:fs";
import { isAbsolute, posix, resolve } from "node:path";
import { isWrittenByWindows } from "../../common/evidence/spelling.ts";
import type { Host } from "../adapters/adapter.ts";
import { CommandError } from "../errors.ts";
import { escapeGlob } from "./globs.ts";
import { foldHome, getGlob, type ProjectRule } from "./rules.ts";

/**
 * Normalizes a glob for the settings: an absolute path, a path with `~`, or a project's name. Relative paths belong to
 * the current folder.
 *
 * @throws CommandError `usage` if it is empty or begins with `!`
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
  return trimSlashes(escapeExistingFolder(text, host) ?? foldHome(posix.normalize(whole), host));
}

/** An existing folder is meant literally, even with brackets in its name. */
function escapeExistingFolder(text: string, host: Host): string | undefined {
  const path = text.replace(/^~(?=[\\/]|$)/, () => host.home);
  if (!/[\\/]|^\.{1,2}$/.test(path) || /[*?]/.test(path)) return undefined;
  const whole = isAbsolute(path) ? path : resolve(host.cwd, path);
  if (!statSync(whole, { throwIfNoEntry: false })?.isDirectory()) return undefined;
  return escapeGlob(foldHome(whole, host).replaceAll(host.platform === "win32" ? "\\" : "/", "/"));
}

const trimSlashes = (glob: string): string => (glob.length > 1 ? glob.replace(/\/+$/, "") || "/" : glob);

/** Replaces rules with the same glob. If the first rule is an `include`, all other projects are excluded. */
export function addRules(
  rules: readonly ProjectRule[],
  action: "include" | "exclude",
  globs: readonly string[],
): ProjectRule[] {
  const ruleFor = (glob: string): ProjectRule => (action === "include" ? { include: glob } : { exclude: glob });
  const isAll = globs.some((glob) => glob === "*" || glob === "**");
  // A rule for all projects overrides all earlier ones.
  if (isAll) return action === "include" ? [] : [{ exclude: "**" }];
  const before = rules.length === 0 && action === "include" ? [{ exclude: "**" }] : rules;
  return [...before.filter((rule) => !globs.includes(getGlob(rule))), ...globs.map(ruleFor)];
}
