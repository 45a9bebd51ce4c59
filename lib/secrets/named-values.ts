import { assignedBy, valueIn } from "#lib/secrets/assignments";
import { readBefore } from "#lib/secrets/context";
import { isCredible, isDense, isDjangoKey } from "#lib/secrets/credible";
import { mayBePassword, namesPassword } from "#lib/secrets/password";
import type { Detector } from "#lib/secrets/shape";

const names = `
  password passwd passphrase passcode pwd secret token apikey api_key api-key accesskey access_key access-key privatekey private_key
  private-key privkey priv_key credential encryption_key encryptionkey signing_key master_key auth_key authkey account_key storage_key
  shared_key shared-key sharedkey license_key webhook_url _dsn _auth _pass -pass _pw bindpw psk authorization sonar.login
  sshpass dbpass userpass rootpass rootpw keypass storepass passwort
`
  .trim()
  .split(/\s+/)
  .concat("secret id", "clé api", "clé d'api", "clave api", "kennwort", "wachtwoord", "senha")
  .concat("api key", "secret key", "access key", "private key", "auth token", "mot de passe", "contraseña")
  // Without a capital, as its other case can't be looked for.
  .concat("密码", "ароль", "hasło", "heslo");
/** Names of much else, too: only what is as varied as random letters is taken for a secret. */
const weakNames = `
  _key -key _pat ?key &key appid _bearer api.key auth.key adminkey appkey storagekey signingkey masterkey licensekey writekey readkey
  serverkey deploykey sessionkey hmackey subscriptionkey integrationkey
`
  .trim()
  .split(/\s+/);
/** So much is looked at behind a name. */
const fewChars = 320;
/** So much of a value is read at once, so much where it may be a key, and so much of the letters of a key that goes on. */
const [valueChars, keyChars] = [160, 264];
const restOfKey = /[\w+/=.~%-]{0,4000}/y;

/** The value at a place, whose reading takes few steps unless it is a key: others may stand in it, which are read once more. */
function valueAt(text: string, from: number, quote: string, isLine: boolean): string {
  const value = valueIn(text.slice(from, from + valueChars), quote, isLine);
  if (value.length < valueChars || !(isDense(value) || isLong(value))) return value.length < valueChars ? value : "";
  const longer = valueIn(text.slice(from, from + keyChars), quote, false);
  if (longer.length < keyChars) return longer;
  if (!isCredible(longer)) return "";
  restOfKey.lastIndex = from + keyChars;
  return longer + (restOfKey.exec(text)?.[0] ?? "");
}

/** `PASSWORD=…`, `"apiKey": "…"`, `--token …`, `password …` of .netrc: a name that says so, and a value that may be one. */
const assignment: Detector = {
  words: [...names, "identified by"],
  mayTell: (text, end) => !isPlural(text, end),
  mayBe: (text, end) => !isPlural(text, end) && mayAssign(text, end),
  find(text, start, end) {
    const rest = text.slice(end, end + fewChars);
    const ahead = readBefore(text, start, 60);
    const isOption = /(?:^|\s)--[\w-]{0,40}$/.test(ahead);
    const [assigned = "", quote = ""] = assignedBy(ahead, rest, isOption);
    if (assigned === "") return undefined;
    const name = getNameEnd(ahead) + text.slice(start, end) + (/^[\w.-]*/.exec(rest)?.[0] ?? "");
    const isLine = quote === "" && isAtLineStart(name, ahead);
    const from = end + assigned.length;
    const value = valueAt(text, from, quote, isLine);
    // The beginning of one, as an example has it.
    if (value === "" || /\.{3}$|…$/.test(value)) return undefined;
    const secret = isDjangoKey(value) ? value : trimmed(value, quote !== "");
    if (isNoSecret(name, ahead) || !maySet(name, secret, quote !== "" || isLine)) return undefined;
    // The tag of an image, such as `ghcr.io/a/token-service:3f2a…`.
    if (assigned.endsWith(":") && /\w\/[\w.-]{0,60}$/.test(ahead) && /^[\da-f]{7,64}$/.test(secret)) return undefined;
    const isWeak = weakNames.includes(text.slice(start, end).toLowerCase());
    if (isWeak && !isDense(secret) && !isLong(secret)) return undefined;
    return { kind: chooseKind(name, secret, quote, ahead, isOption), start: from, end: from + secret.length };
  },
};

/** The part of a name that a text ends with. */
function getNameEnd(text: string): string {
  let at = text.length;
  while (at > 0 && (nameCharacters[text.charCodeAt(at - 1)] === 1 || text.charCodeAt(at - 1) === 0x2e)) at -= 1;
  // A diff has a sign before a line that was removed.
  return text.slice(at).replace(/^-/, "");
}

/** A variable in capitals, or the name of a password as in YAML, has all of its line, or of a text of JSON. */
const isAtLineStart = (name: string, ahead: string): boolean =>
  (/^[A-Z][A-Z0-9_]*$/.test(name) && /(?:^|["\n]|export )[+-]?\w*$/.test(ahead)) ||
  (namesPassword.test(name) && /(?:^|["\n])[\s\d→+-]{0,16}(?:- )?[\w.-]{0,40}$/.test(ahead));

/** A value without what ends it in code and in JSON: `\"`, `\n`, `\u0026`, brackets that it does not open itself. */
function trimmed(value: string, isQuoted: boolean): string {
  const own = value.replace(/\\+(?:["'nrt]|u00[0-9a-f]{2}|x1b|e\[|033).*$|\\+$/, "");
  return isQuoted ? own.replace(/[,;]$/, "") : own.replace(/[.,;)\]}]+$/, "");
}

/** Whether something of that name may have that value; JSON may write a slash with a backslash. */
function maySet(name: string, secret: string, isQuoted: boolean): boolean {
  const plain = secret.replace(/\\+\//g, "/");
  if (
    /^\d+:|:$|^@|^[A-Za-z]+\?$|^\d{4}-\d\d-\d\dT|^#[\da-f]{3,8}$|^arn:aws|^0x[\da-fA-F]{40}$/.test(plain) ||
    repeatsName(name, plain)
  )
    return false;
  return (
    isCredible(plain) ||
    isOther(plain) ||
    appPassword.test(plain) ||
    (namesPassword.test(name) && mayBePassword(plain, isQuoted))
  );
}

/** Whether a value only says its own name in other letters: `X_AWS_TOKEN = "x-aws-token"`. */
function repeatsName(name: string, value: string): boolean {
  const plain = (text: string) => text.toLowerCase().replace(/[^a-z\d]/g, "");
  const [own, said] = [plain(name.slice(name.lastIndexOf(".") + 1)), plain(value)];
  return value.length < 100 && own !== "" && (plain(name).includes(said) || said.includes(own));
}

/** Names of what is public, of what tells of a secret without being it, and of what is random for other reasons. */
const isNoSecret = (name: string, ahead: string): boolean =>
  /publi(?:c|shable)|(?:cache|etag|idempotency|partition|sort|primary|foreign|integrity|dedup\w*)[_-]?key|(?:private_key|key)_?id$|accessor$|(?:secret|token|password|credential|key)[_-]?(?:name|ref|type|policy|version|path|file|hint|length|arn|url|uri|endpoint|fingerprint|changed_?at|\w*_at|expir\w*)$/i.test(
    name,
  ) || /\barn:aws[\w:-]{0,60}$/.test(ahead);

/** The same of names that much else has, too, and that end there. */
const weakAssignment: Detector = {
  ...assignment,
  words: weakNames,
  mayBe: (text, end) => !/[a-z-]/i.test(text.charAt(end)) && !isPlural(text, end) && mayAssign(text, end),
};

/** Words between a name and its value; anything else that has only letters begins or goes on with a sentence. */
const joins = new Set(
  "is was ist est es è set changed reset to as for of on von vom zum de del du do da lautet generated created value".split(
    " ",
  ),
);

/** A name that is set to nothing, to a word of fewer letters than a secret has, or to what stands for a secret elsewhere. */
const [toName, fewLetters] = [String.raw`[\w.-]{0,40}(?:\\{0,7}["'\x60])?\]?[^\S\n]{0,8}`, String.raw`[\w.-]{0,7}`];
const none = [
  String.raw`\\{0,7}["'\x60]${fewLetters}\\{0,7}["'\x60]`,
  String.raw`(?:\\{0,7}["'\x60])?(?:\$[{(]|\{\{)`,
  String.raw`[\w.-]{1,7}(?:[,;)\]}]|[^\S\n]*(?:\n|$|\\{1,3}[nrt]))`,
].join("|");
/** A comma assigns only before a quote. */
const setsNone = new RegExp(`${toName}(?:[:=][^\\S\\n]{0,8}(?:${none})|,(?!\\s{0,8}["'\\\\]|ParameterV))`, "y");

function isSetToNone(text: string, end: number): boolean {
  setsNone.lastIndex = end;
  return setsNone.test(text);
}

/** Whether what follows a name may assign: signs do, and so does a blank before what is no plain word. Most names stand in prose. */
function mayAssign(text: string, end: number): boolean {
  let at = end;
  while (at < end + 12 && nameCharacters[text.charCodeAt(at)] === 1) at += 1;
  if (text.charCodeAt(at) !== 0x20) return !isSetToNone(text, end);
  while (at < end + 32 && text.charCodeAt(at) === 0x20) at += 1;
  const from = at;
  while (at < from + 40 && isSmallLetter(text.charCodeAt(at))) at += 1;
  const next = text.charAt(at);
  if (at === from && "})];".includes(next)) return false;
  return (
    (!isSetToNone(text, end) && !(at > from && (next === " " || next === "," || next === "." || next === "\n"))) ||
    joins.has(text.slice(from, at))
  );
}

const isSmallLetter = (code: number): boolean => code >= 0x61 && code <= 0x7a;
const nameCharacters = Uint8Array.from({ length: 128 }, (_, code) => Number(/[\w-]/.test(String.fromCharCode(code))));

/** Four groups of four letters, as Google shows passwords of apps; one of them is no word. */
const appPassword = /^(?=(?:[a-z]{4} ){0,3}[^aeiou ]{4}(?: |$))[a-z]{4}(?: [a-z]{4}){3}$/;

/** As keys of small letters and digits are, also in hexadecimal; and those of two parts. */
const isLong = (secret: string): boolean => /^[a-z\d]{32,}$|^[0-9a-f-]{36}:[0-9a-f]{32}$/.test(secret);
const isUuid = (secret: string): boolean => /^[0-9a-f]{8}-[0-9a-f-]{27}(?::fx)?$/.test(secret);

/** The tokens of kubeadm and of Laravel, and Django's keys of punctuation. */
const isOther = (secret: string): boolean =>
  /^(?=\D*\d)[a-z\d]{6}\.[a-z\d]{16}$|^\d{1,9}\|[A-Za-z\d]{40,64}$/.test(secret) || isDjangoKey(secret);

const plural = /(?:s|s?manager|_?count|_?usage|_?limit|izer?)(?![a-z])/iy;

/** `tokens: 1,200`, `passwords.txt:12:` and the like, of which logs are full: something about secrets, and none. */
function isPlural(text: string, end: number): boolean {
  plural.lastIndex = end;
  return plural.test(text);
}

function chooseKind(name: string, value: string, quote: string, before: string, isOption: boolean): string {
  if (
    /secret/i.test(name) &&
    /aws|s3|access/i.test(name + before) &&
    /^[A-Za-z0-9/+]{40}$/.test(value) &&
    isDense(value)
  )
    return "aws-secret";
  if (/discord|bot/i.test(name) && /^[A-Za-z\d_-]{23,28}\.[\w-]{6,7}\.[\w-]{27,}$/.test(value)) return "discord";
  if (/^[0-9a-f]{32}-us\d{1,2}$/.test(value)) return "mailchimp";
  // As WireGuard writes them.
  if (/private_?key|preshared_?key/i.test(name) && /^[A-Za-z\d+/]{43}=$/.test(value)) return "private-key";
  const isVariable = /^(?:[\w-]+\.)*[A-Z][A-Z0-9_]*$/.test(name) && !isOption && quote !== "`";
  return isVariable && (isDense(value) || isLong(value) || isUuid(value)) ? "environment" : "assignment";
}

/** `AWS_SESSION_TOKEN=…`, which is longer than other values. */
const sessionToken: Detector = {
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

/** The rest of an id, when it ends, as programs print it between, and the key. */
const behindKeyId =
  /^[A-Z\d]{16}(?:[\s,;:|"'/]|\\{1,3}[nrt]){1,8}(?:\d{4}-\d\d-\d\dT[\d:.Z+-]{5,20}(?:[\s,;|]|\\{1,3}[nrt]){1,4})?([A-Za-z\d+/]{40})(?![\w/+=])/;

/** The secret key that stands behind its id, as in a file of credentials. */
const behindId: Detector = {
  words: ["akia", "asia"],
  find(text, start, end) {
    const [whole = "", value = ""] = behindKeyId.exec(text.slice(end, end + 110)) ?? [];
    if (value === "" || text.slice(start, end) !== text.slice(start, end).toUpperCase() || !isDense(value))
      return undefined;
    return { kind: "aws-secret", start: end + whole.length - value.length, end: end + whole.length };
  },
};

/** What a name was given. */
export const assigned: readonly Detector[] = [assignment, weakAssignment, sessionToken, behindId];
