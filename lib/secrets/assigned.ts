import { isCredible, isDense, isDjangoKey } from "#lib/secrets/credible";
import { before } from "#lib/secrets/nearby";
import { mayBePassword, namesPassword } from "#lib/secrets/password";
import type { Shape } from "#lib/secrets/shape";

const names = `
  password passwd passphrase passcode pwd secret token apikey api_key api-key accesskey access_key access-key privatekey private_key
  private-key privkey priv_key credential encryption_key encryptionkey signing_key master_key auth_key authkey account_key storage_key
  shared_key shared-key sharedkey license_key webhook_url _dsn _auth _pass -pass _pw bindpw psk authorization sonar.login
  sshpass dbpass userpass rootpass keypass storepass passwort
`
  .trim()
  .split(/\s+/)
  .concat("api key", "secret key", "access key", "private key", "auth token", "mot de passe", "contraseña");
/** Names of much else, too: only what is as varied as random letters is taken for a secret. */
const weakNames = ["_key", "-key", "_pat", "?key", "&key", "appid", "_bearer"];
/** A quote, also of a text in JSON in a text, and of HTML; and colours of a terminal, which count as nothing. */
const quoteMark = String.raw`(?:\\{0,7}["'\x60]|&quot;|&#3[49];)`;
const colours = String.raw`(?:(?:\x1b|\\{1,4}(?:u001b|x1b|033|e))\[[\d;]{0,8}m){0,3}`;
/** What assigns: signs, types before them, words of prose, an attribute's value, arguments, an alternative, and a property's braces. */
const signs = [
  "=>|:=",
  String.raw`:\s?[&A-Za-z][\w.[\]<>|?& ]{0,40}=(?=\s?\\{0,7}["'])`,
  "[=:](?![=:])",
  "%3D",
  String.raw`(?:is|was)(?: now)?:?\s|(?:set|changed|reset) to:?\s|(?:to|as)\s(?=\x60)|lautet:?\s`,
  String.raw`value\s?=(?=\s?\\{0,7}["'])`,
  String.raw`\{\s?get;[^}\n]{0,24}\}\s?=(?=\s?\\{0,7}["'])`,
  String.raw`(?:,|\|\||\?\?)(?=\s{0,8}\\{0,7}["'])`,
].join("|");
/** What follows a name: the rest of it, what it is for, a default in brackets, and what assigns. */
const assigns = new RegExp(
  String.raw`^[\w.-]{0,40}?${colours}(?:${quoteMark}?[\])]?)[*_]{0,3}(?: (?:for|of|on|to) [\w@.-]{1,40}| for the [\w.-]{1,40}| \[[^\]\n]{0,24}\])?${colours}(?:\s{0,24}(?:${signs})[*_]{0,3}\s{0,4}(?:[|>][-+]?\n\s{1,24})?|\((?=\\{0,7}["'])|\s(?=\\{0,7}["'])(?![^"']{0,2}["']\s))${colours}(?:[@bBrRuUfL]{1,2}(?=["']))?(${quoteMark})?${colours}`,
);
/** A name and its value as two fields: of YAML and JSON, of lists of properties, and of resources. */
const asPair =
  /^[\w./-]{0,40}\\{0,7}["']?,?(?:\s|\\{1,3}[nrt]){0,20}(?:\\{0,7}"Type\\{0,7}":\s?\\{0,7}"\w{1,20}\\{0,7}",(?:\s|\\{1,3}[nrt]){0,20})?\\{0,7}["']?(?:Parameter)?value\\{0,7}["']?\s?[:=]\s{0,4}(\\{0,7}["'])?/i;
/** A name and an object that has its value, as `terraform output -json` prints it. */
const asObject = /^[\w-]{0,40}\\{0,7}":\s?\{[^{}]{0,120}?"value\\{0,7}":\s?(\\{0,7}")/;
const asKey = /^[\w.-]{0,40}<\/key>(?:\s|\\{1,3}[nrt]){0,20}<string>/;
const asResource = /^[\w.-]{0,40}\\{0,7}["']>/;
/** A row of a table, as programs print settings, and of Markdown. */
const asRow = /^[\w.-]{0,40}(?: |\t|\\t){2,40}(?=\S)/;
const asCell = /^[\w .-]{0,40}?[*_]{0,3}\s{0,24}\|\s{1,8}(\x60)?(?=[^\s|-])/;
const asOption = /^[\w-]{0,40}[ =](["'])?/;
/** In a form and in a URL `&` is behind a value, elsewhere in it. */
const values = /^(?:[^\s"'`,;<>&|\p{Cc}]|&(?!&|[\w.%-]{1,40}=)){8,4200}/u;
/** A variable at the beginning of a line has all of the line. */
const wholeLine = /^(?:(?!&&|\|\|)[^\s"'`]){8,128}(?=\s*(?:\n|$|\\{1,3}[nr]))/;
/** So much is looked at first, and so much where a value goes on. */
const [fewChars, manyChars] = [320, 4400];

/** `PASSWORD=…`, `"apiKey": "…"`, `--token …`, `password …` of .netrc: a name that says so, and a value that may be one. */
const assignment: Shape = {
  words: [...names, "identified by", ...weakNames],
  mayBe: (text, end) => !isCounted(text, end),
  find(text, start, end) {
    const rest = text.slice(end, end + fewChars);
    const ahead = before(text, start, 60);
    const isOption = /(?:^|\s)--[\w-]{0,40}$/.test(ahead);
    const [assigned = "", quote = ""] = assignedBy(ahead, rest, isOption);
    if (assigned === "") return undefined;
    const name = (/[\w.-]*$/.exec(ahead)?.[0] ?? "") + text.slice(start, end) + (/^[\w.-]*/.exec(rest)?.[0] ?? "");
    const isLine = quote === "" && /^[A-Z][A-Z0-9_]*$/.test(name) && /(?:^|\n|export )[+-]?\w*$/.test(ahead);
    const from = end + assigned.length;
    let [value = ""] = valueIn(rest.slice(assigned.length), quote, isLine);
    if (value.length + assigned.length >= fewChars && isDense(value))
      [value = ""] = valueIn(text.slice(from, from + manyChars), quote, false);
    const secret = isDjangoKey(value) ? value : trimmed(value, quote !== "");
    if (isPlural(rest) || isNoSecret(name, ahead) || !maySet(name, secret, quote !== "" || isLine)) return undefined;
    const isWeak = weakNames.includes(text.slice(start, end).toLowerCase());
    if (isWeak && (/^[a-z]/i.test(rest) || !(isDense(secret) || isLong(secret)))) return undefined;
    return { kind: kindOf(name, secret, quote, ahead, isOption), start: from, end: from + secret.length };
  },
};

/** A value without what ends it in code and in JSON: `\"`, `\n`, `\u0026`, brackets that it does not open itself. */
function trimmed(value: string, isQuoted: boolean): string {
  const own = value.replace(/\\+(?:["'nrt]|u00[0-9a-f]{2}|x1b|e\[|033).*$|\\+$/, "");
  return isQuoted ? own : own.replace(/[.)\]}]+$/, "");
}

/** Whether something of that name may have that value; JSON may write a slash with a backslash. */
function maySet(name: string, secret: string, isQuoted: boolean): boolean {
  const plain = secret.replace(/\\+\//g, "/");
  if (/^\d+:/.test(plain) || plain.endsWith(":") || plain.startsWith("@")) return false;
  return (
    isCredible(plain) ||
    isOther(plain) ||
    ofApp.test(plain) ||
    (namesPassword.test(name) && mayBePassword(plain, isQuoted))
  );
}

/** Names of what is public, of what tells of a secret without being it, and of what is random for other reasons. */
const isNoSecret = (name: string, ahead: string): boolean =>
  /publi(?:c|shable)|(?:cache|etag|idempotency|partition|sort|primary|foreign|integrity|dedup\w*)[_-]?key|(?:private_key|key)_?id$|accessor$|(?:secret|token|password|credential|key)[_-]?(?:name|ref|type|policy|version|path|file|hint|length|arn|url|uri|endpoint)$/i.test(
    name,
  ) || /\barn:aws[\w:-]{0,60}$/.test(ahead);

/** `"input_tokens":1200` and the like, of which logs are full: a name's plural, and a number. */
function isCounted(text: string, end: number): boolean {
  if (text.charCodeAt(end) !== 0x73) return false;
  let at = end + 1;
  while (at < end + 12 && " \"'\\:=".includes(text.charAt(at))) at += 1;
  const isDigit = (one: number) => one >= 0x30 && one <= 0x39;
  if (at === end + 1 || !isDigit(text.charCodeAt(at))) return false;
  while (at < end + 32 && isDigit(text.charCodeAt(at))) at += 1;
  return ",}]\n ;)".includes(text.charAt(at));
}

/** Commands that take a name and, behind a space, its value. */
const sets =
  /(?:^|[\s;&+-])(?:setx|set\s+-\w+|ENV|ARG|configure\s+set|secrets?\s+(?:set|put|add)|config\s+set|env\s+(?:add|set))\s+["']?[\w./:-]{0,60}$/;

/** Four groups of four letters, as Google shows passwords of apps; one of them is no word. */
const ofApp = /^(?=(?:[a-z]{4} ){0,3}[^aeiou ]{4}(?: |$))[a-z]{4}(?: [a-z]{4}){3}$/;

/** The value at the beginning of a text, up to the quote that began it. */
function valueIn(rest: string, quote: string, isLine: boolean): readonly string[] {
  const ofWords = /^[a-z]{4}(?: [a-z]{4}){3}(?![\w ])/.exec(rest);
  if (ofWords) return ofWords;
  if (quote === "") return (isLine && wholeLine.exec(rest)) || (values.exec(rest) ?? []);
  const end = rest.indexOf(quote);
  const [whole = ""] = /^[^\s]*/.exec(end < 0 ? rest : rest.slice(0, end)) ?? [];
  return end >= 0 && whole.length < end ? [] : [whole];
}

/** What stands between a name and its value. */
function assignedBy(before: string, rest: string, isOption: boolean): readonly string[] {
  const pair = isOption ? null : (asPair.exec(rest) ?? asObject.exec(rest) ?? asKey.exec(rest));
  if (pair) return pair;
  if (/\bname=\\{0,7}["'][\w.-]{0,40}$/.test(before) && asResource.test(rest)) return asResource.exec(rest) ?? [];
  const found = (isOption ? asOption : assigns).exec(rest);
  if (found) return found;
  if (/(?:^|\n)[\s\d→+-]{0,12}\|[^\n]{0,40}$/.test(before) && asCell.test(rest)) return asCell.exec(rest) ?? [];
  if (/<[\w:.-]{0,40}$/.test(before)) return /^[\w.-]{0,40}>\s{0,4}/.exec(rest) ?? [];
  if (sets.test(before)) return /^[\w.-]{0,40}\s{1,4}(?:--body[ =])?(["'])?/.exec(rest) ?? [];
  // In .netrc a space assigns.
  if (/\blogin\s+\S+\s+$/.test(before)) return /^\s+/.exec(rest) ?? [];
  return /(?:^|\n)\s{0,8}[\w.-]{0,40}$/.test(before) ? (asRow.exec(rest) ?? []) : [];
}

/** As keys of small letters and digits are, also in hexadecimal; and those of two parts. */
const isLong = (secret: string): boolean => /^[a-z\d]{32,}$|^[0-9a-f-]{36}:[0-9a-f]{32}$/.test(secret);
const isUuid = (secret: string): boolean => /^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(secret);

/** The tokens of kubeadm, and Django's keys of punctuation. */
const isOther = (secret: string): boolean => /^(?=\D*\d)[a-z\d]{6}\.[a-z\d]{16}$/.test(secret) || isDjangoKey(secret);

/** `tokens: 1,200`, `passwords.txt:12:` and the like: something about secrets, and none. */
const isPlural = (rest: string): boolean => /^(?:s|s?manager|_?count|_?usage|_?limit|izer?)(?![a-z])/i.test(rest);

function kindOf(name: string, value: string, quote: string, before: string, isOption: boolean): string {
  if (
    /secret/i.test(name) &&
    /aws|s3|access/i.test(name + before) &&
    /^[A-Za-z0-9/+]{40}$/.test(value) &&
    isDense(value)
  )
    return "aws-secret";
  if (/discord|bot/i.test(name) && /^[A-Za-z\d_-]{23,28}\.[\w-]{6,7}\.[\w-]{27,}$/.test(value)) return "discord";
  if (/^[0-9a-f]{32}-us\d{1,2}$/.test(value)) return "mailchimp";
  const isVariable = /^[A-Z][A-Z0-9_]*$/.test(name) && !isOption && quote !== "`";
  return isVariable && (isDense(value) || isLong(value) || isUuid(value)) ? "environment" : "assignment";
}

/** `AWS_SESSION_TOKEN=…`, which is longer than other values. */
const sessionToken: Shape = {
  words: ["session_token", "sessiontoken", "security-token", "security_token"],
  find(text, _start, end) {
    const [whole = "", value = ""] =
      /^\\{0,7}["']?\s{0,4}[=:]\s{0,4}\\{0,7}["']?((?:[A-Za-z0-9/+]|%[0-9A-F]{2}){100,8000}={0,2})/.exec(
        text.slice(end, end + 8200),
      ) ?? [];
    if (value === "" || !isDense(value.slice(0, 300))) return undefined;
    return { kind: "aws-session", start: end + whole.length - value.length, end: end + whole.length };
  },
};

/** The secret key that stands behind its id, as in a file of credentials. */
const behindId: Shape = {
  words: ["akia", "asia"],
  find(text, start, end) {
    const [whole = "", value = ""] =
      /^[A-Z\d]{16}[\s,;:|"'/]{1,8}([A-Za-z\d/+]{40})(?![\w/+=])/.exec(text.slice(end, end + 70)) ?? [];
    if (value === "" || text.slice(start, end) !== text.slice(start, end).toUpperCase() || !isDense(value))
      return undefined;
    return { kind: "aws-secret", start: end + whole.length - value.length, end: end + whole.length };
  },
};

/** What a name was given. */
export const assigned: readonly Shape[] = [assignment, sessionToken, behindId];
