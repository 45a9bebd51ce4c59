import { isCredible, isDense, isDjangoKey, mayBePassword, namesPassword } from "#common/secrets/credible";
import { isLong, matchAssignment, readValueAt } from "#common/secrets/detectors/assignments";
import { type Detector, findAfter, readBefore, type SecretPlace } from "#common/secrets/detectors/detector";

const names = `
  password passwd passphrase passcode pwd secret token apikey api_key api-key accesskey access_key access-key privatekey private_key
  private-key privkey priv_key credential encryption_key encryptionkey signing_key master_key auth_key authkey account_key storage_key
  shared_key shared-key sharedkey license_key webhook_url _dsn _auth _pass -pass _pw bindpw psk authorization sonar.login
  sshpass dbpass userpass rootpass rootpw keypass storepass passwort
`
  .trim()
  .split(/\s+/)
  .concat("secret id", "clé api", "clé d'api", "clave api", "kennwort", "wachtwoord", "senha", "identified by")
  .concat("api key", "secret key", "access key", "private key", "auth token", "mot de passe", "contraseña")
  // "ароль" lacks its first letter, whose capital can't be searched.
  .concat("密码", "密碼", "口令", "密钥", "令牌", "パスワード", "비밀번호", "ароль", "токен")
  .concat("hasło", "heslo", "lösenord", "adgangskode", "passord", "salasana", "jelszó", "şifre", "parolă", "mật khẩu")
  .concat("kata sandi", "κωδικός", "סיסמה", "كلمة المرور", "पासवर्ड", "รหัสผ่าน");
/** These names are common, so a value counts only if it looks random. */
const weakNames = `
  _key -key _pat ?key &key appid _bearer api.key auth.key adminkey appkey storagekey signingkey masterkey licensekey writekey readkey
  serverkey deploykey sessionkey accountkey schlüssel hmackey subscriptionkey integrationkey
`
  .trim()
  .split(/\s+/);

const restChars = 320;

/** `PASSWORD=…`, `"apiKey": "…"`, `--token …`, `{"name": "PASSWORD", "value": "…"}`. */
const assignment: Detector = {
  words: names,
  mayNameSecret: (text, end) => !isPlural(text, end),
  mayBe: (text, end, start) => !isPlural(text, end) && (mayAssign(text, end) || isFieldValue(text, start)),
  find: (text, start, end) => findAssigned(text, start, end) ?? findInSibling(text, start, end),
};

/** Inside a longer name, these words do not announce a secret. */
const weakAssignment: Detector = {
  ...assignment,
  words: weakNames,
  mayBe: (text, end, start) =>
    !/[a-z-]/i.test(text.charAt(end)) && !isPlural(text, end) && (mayAssign(text, end) || isFieldValue(text, start)),
};

function findAssigned(text: string, start: number, end: number): SecretPlace | undefined {
  const rest = text.slice(end, end + restChars);
  const ahead = readBefore(text, start, 60);
  const isOption = /(?:^|\s)--[\w-]{0,40}$/.test(ahead);
  const [assigned = "", quote = ""] = matchAssignment(ahead, rest, isOption);
  if (assigned === "") return undefined;
  const name = readNameEnd(ahead) + text.slice(start, end) + (/^[\w.-]*/.exec(rest)?.[0] ?? "");
  const isLine = quote === "" && isAtLineStart(name, ahead);
  const from = end + assigned.length;
  const secret = readSecret(text, from, { name, word: text.slice(start, end), ahead, quote, isLine });
  // The tag of an image, such as `ghcr.io/a/token-service:3f2a…`.
  const isTag = assigned.endsWith(":") && /\w\/[\w.-]{0,60}$/.test(ahead) && /^[\da-f]{7,64}$/.test(secret);
  if (secret === "" || isTag) return undefined;
  return { kind: chooseKind(name, secret, quote, ahead, isOption), start: from, end: from + secret.length };
}

type NamedValue = { name: string; word: string; ahead: string; quote: string; isLine: boolean };

function readSecret(text: string, from: number, { name, word, ahead, quote, isLine }: NamedValue): string {
  const value = readValueAt(text, from, quote, isLine);
  const isCut = /\.{3}$|…$/.test(value);
  if (value === "" || isCut || isNoSecret(name, ahead)) return "";
  const secret = isDjangoKey(value) ? value : trimValue(value, quote !== "");
  if (!maySet(name, secret, quote !== "" || isLine)) return "";
  return weakNames.includes(word.toLowerCase()) && !isDense(secret) && !isLong(secret) ? "" : secret;
}

const blank = String.raw`(?:\s|\\{1,3}[nrt])`;
const anyQuote = String.raw`\\{0,7}["']`;
const nextField = String.raw`(?:${blank}|,){1,80}`;
const fieldName = String.raw`(?:${anyQuote})?[\w$.-]{1,40}(?:${anyQuote})?${blank}{0,4}[:=]${blank}{0,4}`;
const fieldValue = String.raw`(?:\\{0,7}"[^"\n]{0,300}"|'[^'\n]{0,300}'|[\w.+/@-]{1,100}|\[[^[\]{}]{0,300}\]|\{[^{}]{0,300}\})`;
const valueName = String.raw`(?:value|val|secretstring)(?:${anyQuote})?${blank}{0,4}[:=]${blank}{0,4}(${anyQuote})?`;
const valueField = String.raw`(?:${anyQuote})?[\w-]{0,20}?${valueName}`;
const toValue = new RegExp(`^(?:${nextField}${fieldName}${fieldValue}){0,6}?${nextField}${valueField}`, "i");
const valueBefore = new RegExp(valueName, "gi");
const toName = new RegExp(`^(?:${anyQuote})?(?:${nextField}${fieldName}${fieldValue}){0,6}${nextField}$`);
const nameField = /(?:name|key|id|label|title|field|variable|setting)$/i;
const siblingChars = 400;

const isNameCharacter = (code: number): boolean => nameCharacters[code] === 1;
const isPathCharacter = (code: number): boolean => isNameCharacter(code) || code === 0x2e || code === 0x2f;
const isQuoteOrEscape = (code: number): boolean => code === 0x22 || code === 0x27 || code === 0x5c;
const isBlank = (code: number): boolean => code === 0x20;

function findNameField(text: string, start: number): number {
  const skipBack = (from: number, isSkipped: (code: number) => boolean): number => {
    let at = from;
    while (at > 0 && from - at < 80 && isSkipped(text.charCodeAt(at - 1))) at -= 1;
    return at;
  };
  const value = skipBack(start, isPathCharacter);
  const sign = skipBack(skipBack(value, isQuoteOrEscape), isBlank) - 1;
  if (sign < 0 || !":=".includes(text.charAt(sign))) return -1;
  const end = skipBack(skipBack(sign, isBlank), isQuoteOrEscape);
  const from = skipBack(end, isNameCharacter);
  return nameField.test(text.slice(from, end)) ? skipBack(from, isQuoteOrEscape) : -1;
}

const isFieldValue = (text: string, start: number): boolean => findNameField(text, start) >= 0;

/** Lists of variables name a value in another field of the same object. */
function findInSibling(text: string, start: number, end: number): SecretPlace | undefined {
  const field = findNameField(text, start);
  if (field < 0) return undefined;
  const [rest = "", name = ""] = /^([\w./-]{0,80})(?:\\{0,7}["'])?/.exec(text.slice(end, end + 100)) ?? [];
  const ahead = readBefore(text, start, 60);
  const named = { name: readNameEnd(ahead) + text.slice(start, end) + name, word: text.slice(start, end), ahead };
  const place = (from: number, quote: string, to = text.length): SecretPlace | undefined => {
    const secret = readSecret(text, from, { ...named, quote, isLine: quote === "" });
    if (secret === "" || from + secret.length > to) return undefined;
    const isNext = to === text.length || toName.test(text.slice(from + secret.length, to));
    const kind = chooseKind(named.name, secret, quote, ahead, false);
    return isNext ? { kind, start: from, end: from + secret.length } : undefined;
  };
  const nameEnd = end + rest.length;
  const [after, quote = ""] = toValue.exec(text.slice(nameEnd, nameEnd + siblingChars)) ?? [];
  if (after !== undefined) return place(nameEnd + after.length, quote);
  const begin = Math.max(0, field - siblingChars);
  const nearestFirst = [...text.slice(begin, field).matchAll(valueBefore)].reverse().slice(0, 2);
  for (const { 0: head, 1: mark = "", index } of nearestFirst) {
    const found = place(begin + index + head.length, mark, field);
    if (found) return found;
  }
  return undefined;
}

function readNameEnd(text: string): string {
  let at = text.length;
  while (at > 0 && (isNameCharacter(text.charCodeAt(at - 1)) || text.charCodeAt(at - 1) === 0x2e)) at -= 1;
  return text.slice(at).replace(/^-/, ""); // the minus of a removed line in a diff
}

const isAtLineStart = (name: string, ahead: string): boolean =>
  (/^[A-Z][A-Z0-9_]*$/.test(name) && /(?:^|["\n]|export )[+-]?\w*$/.test(ahead)) ||
  (namesPassword.test(name) && /(?:^|["\n])[\s\d→+-]{0,16}(?:- )?[\w.-]{0,40}$/.test(ahead));

/** Removes what ends a value in code and in JSON: `\"`, `\n`, `\u0026`, brackets that it does not open itself. */
function trimValue(value: string, isQuoted: boolean): string {
  const own = value.replace(/\\+(?:["'nrt]|u00[0-9a-f]{2}|x1b|e\[|033).*$|\\+$/, "");
  return isQuoted ? own.replace(/[,;]$/, "") : own.replace(/[.,;)\]}]+$/, "");
}

function maySet(name: string, secret: string, isQuoted: boolean): boolean {
  const plain = secret.replace(/\\+\//g, "/");
  const isCode = /^\d+:|:$|^@|^[A-Za-z]+\?$|^\d{4}-\d\d-\d\dT|^#[\da-f]{3,8}$|^arn:aws|^0x[\da-fA-F]{40}$/.test(plain);
  if (isCode || repeatsName(name, plain)) return false;
  const isKnownForm = isCredible(plain) || isOther(plain) || appPassword.test(plain);
  return isKnownForm || (namesPassword.test(name) && mayBePassword(plain, isQuoted));
}

function repeatsName(name: string, value: string): boolean {
  const plain = (text: string) => text.toLowerCase().replace(/[^a-z\d]/g, "");
  const [own, said] = [plain(name.slice(name.lastIndexOf(".") + 1)), plain(value)];
  return value.length < 100 && own !== "" && (plain(name).includes(said) || said.includes(own));
}

/** Matches names of public keys, of facts about a secret, and of other random values. */
const isNoSecret = (name: string, ahead: string): boolean =>
  /publi(?:c|shable)|(?:cache|etag|idempotency|partition|sort|primary|foreign|integrity|dedup\w*)[_-]?key|(?:private_key|key)_?id$|accessor$|(?:secret|token|password|credential|key)[_-]?(?:name|ref|type|policy|version|path|file|hint|length|arn|url|uri|endpoint|fingerprint|changed_?at|\w*_at|expir\w*)$/i.test(
    name,
  ) || /\barn:aws[\w:-]{0,60}$/.test(ahead);

const joins = new Set(
  "is was ist est es è set changed reset to as for of on von vom zum de del du do da lautet generated created value".split(
    " ",
  ),
);

const [restOfQuotedName, fewLetters] = [
  String.raw`[\w.-]{0,40}(?:\\{0,7}["'\x60])?\]?[^\S\n]{0,8}`,
  String.raw`[\w.-]{0,7}`,
];
const noValue = [
  String.raw`\\{0,7}["'\x60]${fewLetters}\\{0,7}["'\x60]`,
  String.raw`(?:\\{0,7}["'\x60])?(?:\$[{(]|\{\{)`,
  String.raw`[\w.-]{1,7}(?:[,;)\]}]|[^\S\n]*(?:\n|$|\\{1,3}[nrt]))`,
].join("|");
const setsNone = new RegExp(
  `${restOfQuotedName}(?:[:=][^\\S\\n]{0,8}(?:${noValue})|,(?!\\s{0,8}["'\\\\]|ParameterV))`,
  "y",
);

function isSetToNone(text: string, end: number): boolean {
  setsNone.lastIndex = end;
  return setsNone.test(text);
}

/** Logs are full of `tokens: 1,200` and `passwords.txt:12:`. */
function mayAssign(text: string, end: number): boolean {
  let at = end;
  while (at < end + 12 && isNameCharacter(text.charCodeAt(at))) at += 1;
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

const appPassword = /^(?=(?:[a-z]{4} ){0,3}[^aeiou ]{4}(?: |$))[a-z]{4}(?: [a-z]{4}){3}$/;

const isUuid = (secret: string): boolean => /^[0-9a-f]{8}-[0-9a-f-]{27}(?::fx)?$/.test(secret);

const isOther = (secret: string): boolean =>
  /^(?=\D*\d)[a-z\d]{6}\.[a-z\d]{16}$|^\d{1,9}\|[A-Za-z\d]{40,64}$/.test(secret) || isDjangoKey(secret);

const plural = /(?:s|s?manager|_?count|_?usage|_?limit|izer?)(?![a-z])/iy;

/** `tokens: 1,200` and `passwords.txt:12:` name no secret, and logs are full of them. */
function isPlural(text: string, end: number): boolean {
  plural.lastIndex = end;
  return plural.test(text);
}

function chooseKind(name: string, value: string, quote: string, before: string, isOption: boolean): string {
  const isAws = /secret/i.test(name) && /aws|s3|access/i.test(name + before);
  if (isAws && /^[A-Za-z0-9/+]{40}$/.test(value) && isDense(value)) return "aws-secret";
  if (/discord|bot/i.test(name) && /^[A-Za-z\d_-]{23,28}\.[\w-]{6,7}\.[\w-]{27,}$/.test(value)) return "discord";
  if (/^[0-9a-f]{32}-us\d{1,2}$/.test(value)) return "mailchimp";
  const isWireGuard = /private_?key|preshared_?key/i.test(name) && /^[A-Za-z\d+/]{43}=$/.test(value);
  if (isWireGuard) return "private-key";
  const isVariable = /^(?:[\w-]+\.)*[A-Z][A-Z0-9_]*$/.test(name) && !isOption && quote !== "`";
  return isVariable && (isDense(value) || isLong(value) || isUuid(value)) ? "environment" : "assignment";
}

const keyAfterId =
  /^[A-Z\d]{16}(?:[\s,;:|"'/]|\\{1,3}[nrt]){1,8}(?:\d{4}-\d\d-\d\dT[\d:.Z+-]{5,20}(?:[\s,;|]|\\{1,3}[nrt]){1,4})?([A-Za-z\d+/]{40})(?![\w/+=])/;

export const namedValues: readonly Detector[] = [
  assignment,
  weakAssignment,
  findAfter(
    "aws-session",
    "session_token|sessiontoken|security-token|security_token",
    /^\\{0,7}["']?\s{0,4}[=:]\s{0,4}\\{0,7}["']?((?:[A-Za-z0-9/+]|%[0-9A-F]{2}){100,8000}={0,2})/,
    (value) => isDense(value.slice(0, 300)),
    { chars: 8200 },
  ),
  {
    ...findAfter("aws-secret", "akia|asia", keyAfterId, isDense, { chars: 110 }),
    mayBe: (text, end, start) => /^A[KS]IA[A-Z\d]/.test(text.slice(start, end + 1)),
  },
];
