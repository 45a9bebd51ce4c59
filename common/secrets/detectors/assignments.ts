// Finds a value after its name, in code, files, output and prose, and its end.
import { isCredible, isDense, readAppPassword } from "#common/secrets/credible";

const quoteMark = String.raw`(?:["']{3}|\\{0,7}["'\x60“”„«]|&quot;|&#3[49];)`;
const colours = String.raw`(?:(?:\x1b|\\{1,4}(?:u001b|x1b|033|e))\[[\d;]{0,8}m){0,3}`;
const signs = [
  String.raw`=>\s{0,12}string\(\d{1,4}\)`,
  "=>|[:?]=|<<<|(?:->|→)(?= )",
  String.raw`:\s?[&A-Za-z][\w.[\]<>|?& ]{0,40}=(?=\s?\\{0,7}["'])`,
  String.raw`[=:]\s?(?:new )?(?:JSON\.stringify|Some|Secret(?:Str)?|Buffer\.from|TextEncoder\(\)\.encode|z\.string\(\)\.default)\((?=\\{0,7}["'\x60])`,
  "[=:：＝](?![=:])",
  "%3D",
  String.raw`(?:is|was|ist|est|es|è|é|je)(?: now)?:?\s|[是为は]\s?|[는은]\s|(?:set|changed|reset) to:?\s|(?:to|as)\s(?=\x60)|lautet:?\s`,
  String.raw`value\s?=(?=\s?\\{0,7}["'])`,
  String.raw`\{\s?get;[^}\n]{0,24}\}\s?=(?=\s?\\{0,7}["'])`,
  String.raw`(?:,|\|\||\?\?|or )(?=\s{0,8}\\{0,7}["'])`,
].join("|");
const restOfName = String.raw`[\w.-]{0,40}?${colours}(?:${quoteMark}?[\])]?)[*_]{0,3}`;
/** A name is followed by its purpose in prose, and by its present value in prompts. */
const detail = String.raw`(?: (?:generated|created|reset)| (?:for|of|on|to|für|von|vom|zum|de|del|du|do|da)(?: (?:the|our|my|den|die|das|dem|der|la|el|le))?(?: [\w@.-]{1,40}){1,3}?| \[[^\]\n]{0,24}\])?`;
/** A block of YAML and a value in quotes may begin on the next line. */
const blanks = String.raw`[*_]{0,3}(?:\s?\\{0,7}["'](?=\\{1,7}["'])| ?[|>][-+]?\n\s{1,24}|[^\S\n]{0,40}|\s{0,12}(?=\\{0,7}["']))`;
const onlyQuoted = String.raw`\((?=\\{0,7}["'])|\s(?=\\{0,7}["'\x60])(?![^"'\x60]{0,2}["'\x60]\s)`;
const stringPrefix = `(?:[@bBrRuUfLN]{1,2}(?=["']))?`;
const assigns = new RegExp(
  `^${restOfName}${detail}${colours}(?:\\s{0,24}(?:${signs})${blanks}|${onlyQuoted})${colours}${stringPrefix}(${quoteMark})?${colours}`,
);
const asPair =
  /^[\w./-]{0,40}\\{0,7}["']?,?(?:\s|\\{1,3}[nrt]){0,20}(?:\\{0,7}["']?(?:Parameter)?value\\{0,7}["']?\s?[:=]|--value[ =])\s{0,4}(\\{0,7}["'])?/i;
/** Terraform prints an object with the value after the name. */
const asObject =
  /^[\w-]{0,40}\\{0,7}"(?::\s?\{[^{}]{0,120}?"value\\{0,7}":| \{[^{}]{0,240}?\bdefault\s{0,12}=)\s?(\\{0,7}")/;
const asKey = /^[\w.-]{0,40}<\/key>(?:\s|\\{1,3}[nrt]){0,20}<string>/;
const asResource = /^[\w.-]{0,40}\\{0,7}["']>/;
const asRow = /^[\w.-]{0,40}(?: {2}|\t|\\t)(?: |\t|\\t){0,40}(?=\S)/;
const asCell = /^[\w .-]{0,40}?[*_\x60]{0,3}\s{0,40}[|│┃║]\s{1,8}(\x60)?(?=[^\s|-])/;
const asOption = /^[\w-]{0,40}[ =](["'])?/;
const setCommand =
  /(?:^|["\s;&+-])(?:setx|setenv|set\s+-\w+|ENV|ARG|configure\s+set|secrets?\s+(?:set|put|add)|(?:git\s+config|config\s+set)(?:\s+--\w+)?|env[\s:](?:add|set)|(?:kv|etcdctl)\s+put)\s+["']?[\w./:-]{0,60}$/;

export function matchAssignment(before: string, rest: string, isOption: boolean): readonly string[] {
  const pair = isOption ? null : (asPair.exec(rest) ?? asObject.exec(rest) ?? asKey.exec(rest));
  if (pair) return pair;
  if (/\bname=\\{0,7}["'][\w.-]{0,40}$/.test(before) && asResource.test(rest)) return asResource.exec(rest) ?? [];
  const found = (isOption ? asOption : assigns).exec(rest);
  if (found) return found;
  if (/(?:^|["\n])[\s\d→+-]{0,12}[|│┃║][^\n]{0,40}$/.test(before) && asCell.test(rest)) return asCell.exec(rest) ?? [];
  if (/<[\w:.-]{0,40}$/.test(before)) return /^[\w.-]{0,40}>\s{0,4}/.exec(rest) ?? [];
  if (setCommand.test(before)) return /^[\w.-]{0,40}\s{1,4}(?:--body[ =]|-b\s?)?(["'])?/.exec(rest) ?? [];
  const isNetrc = /\blogin\s+\S+\s+$/.test(before);
  if (isNetrc) return /^\s+/.exec(rest) ?? [];
  return /(?:^|["\n])\s{0,8}[\w.-]{0,40}$/.test(before) ? (asRow.exec(rest) ?? []) : [];
}

/** `&` ends a value in a form and in a URL; elsewhere it may belong to the value. */
const unquoted = /^(?:[^\s"'`,;<>&|\p{Cc}]|&(?!&|[\w.%-]{1,40}=)){8,264}/u;
const wholeLine = /^(?:(?!&&|<\/|\|\||\\{1,3}[nr])[^\s"'`\p{Cc}]){8,128}(?=\s*(?:["\n]|$|\\{1,3}["nr]))/u;

const closings: Record<string, RegExp | undefined> = { "“": /[”“"]/, "„": /[“”"]/, "«": /»/ };

function readValue(rest: string, quote: string, isLine: boolean): string {
  const appPassword = readAppPassword(rest);
  if (appPassword) return appPassword;
  if (quote === "") return ((isLine && wholeLine.exec(rest)) || unquoted.exec(rest))?.[0] ?? "";
  const closing = closings[quote];
  const end = closing ? rest.search(closing) : rest.indexOf(quote);
  const [whole = ""] = /^\S*/.exec(end < 0 ? rest : rest.slice(0, end)) ?? [];
  return whole.length < end ? "" : whole;
}

export const isLong = (secret: string): boolean => /^[a-z\d]{32,}$|^[0-9a-f-]{36}:[0-9a-f]{32}$/.test(secret);

const [valueChars, keyChars] = [160, 264];
const restOfKey = /[\w+/=.~%-]{0,4000}/y;

/** The search continues inside a long value, since it may contain other values. */
export function readValueAt(text: string, from: number, quote: string, isLine: boolean): string {
  const value = readValue(text.slice(from, from + valueChars), quote, isLine);
  if (value.length < valueChars || !(isDense(value) || isLong(value))) return value.length < valueChars ? value : "";
  const longer = readValue(text.slice(from, from + keyChars), quote, false);
  if (longer.length < keyChars) return longer;
  if (!isCredible(longer)) return "";
  restOfKey.lastIndex = from + keyChars;
  return longer + (restOfKey.exec(text)?.[0] ?? "");
}
