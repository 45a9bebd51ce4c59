import type { MatchLogic } from "@pydantic/genai-prices";

/** Suffixes that don't make another model: a date, `latest`, a preview, a snapshot number. */
const harmless =
  /^(?:[-@:.](?:latest|preview|exp|beta|v\d+(?::\d+)?|\d{3,4}|\d{6}|\d{8}|\d{4}-\d{2}-\d{2}|\d{2}-\d{2}(?:-\d{4})?|\d{2}-\d{4}))*$/;
/** Dates can be split in several ways, whose number doubles with each. */
const maxHarmlessChars = 40;
/** A cloud's or vendor's prefix. */
const vendor = /^(?:[a-z-]+[./])*$/;

/**
 * The list's rules are prefixes: `claude-sonnet-5` also matches claude-sonnet-5-5, another model with another price.
 */
export function means(rule: MatchLogic, name: string): boolean {
  if ("or" in rule) return rule.or.some((one) => means(one, name));
  if ("and" in rule) return rule.and.some((one) => means(one, name)) && rule.and.every((one) => holds(one, name));
  if ("equals" in rule) return rule.equals.toLowerCase() === name;
  if ("regex" in rule) return /^\^[^(|]*\$$/.test(rule.regex) && new RegExp(rule.regex).test(name);
  if ("starts_with" in rule) return around(rule.starts_with, name, (before) => before === "");
  if ("ends_with" in rule)
    return around(rule.ends_with, name, (before, suffix) => suffix === "" && vendor.test(before));
  return around(rule.contains, name, (before) => vendor.test(before));
}

function around(part: string, name: string, fits: (before: string, suffix: string) => boolean): boolean {
  const wanted = part.toLowerCase();
  const at = name.indexOf(wanted);
  if (at === -1) return false;
  const [before, suffix] = [name.slice(0, at), name.slice(at + wanted.length)];
  if (suffix.length > maxHarmlessChars || !fits(before, suffix)) return false;
  return harmless.test(/[-@.]$/.test(wanted) ? `${wanted.at(-1)}${suffix}` : suffix);
}

function holds(rule: MatchLogic, name: string): boolean {
  if ("or" in rule) return rule.or.some((one) => holds(one, name));
  if ("and" in rule) return rule.and.every((one) => holds(one, name));
  if ("equals" in rule) return rule.equals.toLowerCase() === name;
  if ("regex" in rule) return new RegExp(rule.regex).test(name);
  if ("starts_with" in rule) return name.startsWith(rule.starts_with.toLowerCase());
  if ("ends_with" in rule) return name.endsWith(rule.ends_with.toLowerCase());
  return name.includes(rule.contains.toLowerCase());
}
