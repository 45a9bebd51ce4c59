const placeholder =
  /example|sample|placeholder|dummy|change[-_]?me|redacted|replace|insert|your[-_ ]?|my[-_]?(?:secret|token|key|password)|x{4}|\*{3}|\.{3}|…|(?:^|[^a-z])(?:fake|mock|null|undefined|none|todo|test[-_]?(?:key|token|secret|password))(?:$|[^a-z])/i;

const maxRow = 5;

/** A pattern with a back reference takes three times as long. */
function hasRow(text: string): boolean {
  let row = 1;
  for (let at = 1; at < text.length; at += 1) {
    row = (text.charCodeAt(at) | 0x20) === (text.charCodeAt(at - 1) | 0x20) ? row + 1 : 1;
    if (row > maxRow) return true;
  }
  return false;
}

const isPlaceholder = (text: string): boolean => hasRow(text) || placeholder.test(text);

const entropyChars = 400;
/** Reset after each text, so that a short text takes few steps. */
const counts = new Uint16Array(128);
const timesLog2 = Float64Array.from({ length: entropyChars + 1 }, (_, count) => count * Math.log2(Math.max(1, count)));

/** Shannon's entropy of the first 400 characters, in bits per character. */
export function measureEntropy(text: string): number {
  const length = Math.min(text.length, entropyChars);
  if (length === 0) return 0;
  for (let at = 0; at < length; at += 1) {
    const code = text.charCodeAt(at) & 127;
    counts[code] = (counts[code] as number) + 1;
  }
  let sum = 0;
  for (let at = 0; at < length; at += 1) {
    const code = text.charCodeAt(at) & 127;
    sum += timesLog2[counts[code] as number] as number;
    counts[code] = 0;
  }
  return Math.log2(length) - sum / length;
}

/** The share of characters that continue a sequence, as in `abcdef` and `123456`. */
function measureSequences(text: string): number {
  let following = 0;
  for (let at = 1; at < text.length; at += 1) {
    const step = text.charCodeAt(at) - text.charCodeAt(at - 1);
    if (step === 1 || step === -1 || step === 0) following += 1;
  }
  return following / Math.max(1, text.length - 1);
}

/** Zeros in Base64 (`AAAA`) are normal in OpenSSH keys; in a short text they mean an example. */
const zeros = /a{4,}/gi;
const longChars = 60;

export function isRandom(text: string): boolean {
  const rest = text.length > longChars ? text.replace(zeros, "A") : text;
  return (
    !isPlaceholder(rest) &&
    measureSequences(rest) < 0.5 &&
    measureEntropy(rest) >= Math.min(3, Math.log2(rest.length) * 0.7)
  );
}

/** `getAccessToken`, `my-service-token`, `config.auth.token`, `API_TOKEN`. */
const identifier = /^[A-Za-z]+(?:\d{0,2}[A-Z][a-z]+|[-_./:@][A-Za-z]+)*\d{0,2}$/;
const characterKinds = [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z0-9]/];

/** Sixteen small letters with five consonants in a row are an app password of Google. */
function isShuffled(value: string): boolean {
  if (/^[a-z]{16}$/.test(value)) return /[^aeiouy]{5}/.test(value);
  if (value.length < 12 || !/^[A-Za-z!#$%*+=@^]+\d{0,2}$/.test(value) || measureEntropy(value) < 3.3) return false;
  const changes = (value.match(/[a-z](?=[A-Z])|[A-Z](?=[a-z])/g)?.length ?? 0) / value.length;
  return changes >= 0.5 || (changes >= 1 / 3 && (value.match(/[A-Z]{2,}/g)?.length ?? 0) >= 2);
}

/** The first folder must be a word, since Base64 rarely begins with one. */
const isPath = (value: string): boolean => /^(?:~|\.{1,2}|[A-Za-z]:)?[/\\][A-Za-z][a-z]+[/\\]|^~\//.test(value);

const maxPasswordChars = 256;
const weighedKeyChars = 200;
const isLongKey = (value: string): boolean =>
  /^[\w+/=.~%-]+$/.test(value) && isDense(value.slice(0, weighedKeyChars)) && isRandom(value.slice(0, weighedKeyChars));

/** Code, words, paths, numbers and placeholders are not credible. */
export function isCredible(value: string): boolean {
  if (value.length > maxPasswordChars) return isLongKey(value);
  if (value.length < 8 || isPlaceholder(value) || measureSequences(value) >= 0.5 || isPath(value)) return false;
  if (isShuffled(value)) return true;
  if (
    identifier.test(value) ||
    /^eyJ[\w-]+$/.test(value) ||
    /^[\d.,:_-]+$/.test(value) ||
    /[(){}[\]<>|\\]|^\$|\$[A-Z_]{2}/.test(value)
  )
    return false;
  if (
    /^(?:https?:)?\/\/|^\.{0,2}\/|^[a-z]:\\|^(?:sha\d+|md5)[-:]|^[\w-]+(?:\.[\w-]+)+$/i.test(value) &&
    !isDense(value)
  )
    return false;
  const variety = characterKinds.filter((one) => one.test(value)).length;
  if (value.length < 16) return variety >= 3 && measureEntropy(value) >= 2.7;
  return variety >= 2 && /\d/.test(value) && measureEntropy(value) >= 3;
}

export const isDjangoKey = (value: string): boolean =>
  /^(?:django-insecure-)?[a-z\d!@#$%^&*(\-_=+)]{40,60}$/.test(value) &&
  /[!@#$%^&*(=+)]/.test(value) &&
  measureEntropy(value) >= 4;

export const isDense = (value: string): boolean =>
  value.length >= 20 && characterKinds.slice(0, 3).every((one) => one.test(value)) && measureEntropy(value) >= 3.7;

export const isKey = (value: string): boolean => isDense(value) || /^[0-9a-f]{32,128}$/.test(value);

/** Passwords of examples and local databases. */
export const knownPasswords =
  /^(?:(?:test|my|super|some|new|old|wrong|bad|good|valid|invalid|strong|weak|short|long|secure|correct|admin|user|root|db)?[-_ ]?(?:pass(?:word|wd)?|pwd|secret)|admin|root|user(?:name)?|postgres(?:ql)?|mysql|redis|guest|test(?:ing|er)?|dev(?:elopment)?|local(?:host)?|demo|app|db|hunter2|letmein|qwerty|token|key|api[-_]?key|x-oauth-basic|x-access-token|oauth2|[\d*.]+)[-_]?\d{0,4}[!@#$.]{0,2}$/i;

export function isPair(encoded: string): boolean {
  const [, name = "", password = ""] =
    /^([\x20-\x7e]{1,128}):([\x20-\x7e]{4,256})$/.exec(Buffer.from(encoded, "base64").toString("latin1")) ?? [];
  return name !== "" && !knownPasswords.test(password);
}

/** Tokens and keys are longer, and recognized by their characters alone. */
export const namesPassword =
  /pass(?!ed|es|ing|ive|age|port)|pwd|(?:^|[_-]|root)pw$|psk|contraseña|kennwort|wachtwoord|senha|identified by|密[码碼]|口令|パスワード|비밀번호|ароль|hasło|heslo|lösenord|adgangskode|passord|salasana|jelszó|şifre|parolă|mật khẩu|kata sandi|κωδικός|סיסמה|كلمة المرور|पासवर्ड|รหัสผ่าน/i;

const isCode = (value: string): boolean =>
  /^[$@&%]\w+%?$|^[$%]\{?[A-Za-z_]|\$[({]|\{\{|\}\}|^<.*>$|^\[.*\]$|^\{.*\}$|^[\w.$]+[([].*[)\]][;,]?$|::|->|=>|\(\)\.|\|\w+:|^\/\*|:$/.test(
    value,
  );

const isProperty = (value: string): boolean =>
  /^[\w$]+(?:\??\.[\w$]+)+$/.test(value) && !(/\d[a-z]/i.test(value) && value.replace(/\D/g, "").length >= 2);

const numberedName =
  /(?:hash|salt|token|secret|value|input|param|field|user|sha|md|utf|uint|int|float|string|base|test|demo|mock|foo|bar|oauth|http|ipv|log|x|web|pass(?:word|wd)?|pwd)[\w-]*?\d+|^(?:v|h)\d|i18n|k8s|e2e|b64/i;

const isPhrase = (value: string): boolean =>
  /^[a-z]{3,10}(?:[-_.][a-z]{3,10}){3,7}$/.test(value) &&
  !/pass|secret|token|key|reset|user|auth|field|input|form|test|error|valid|require|change|forgot|login|service|config|default/.test(
    value,
  );

const isScrambled = (value: string): boolean =>
  /^[A-Za-z]{10,}\d{0,3}$/.test(value) &&
  /[a-z]/.test(value) &&
  ((value.match(/[A-Z]{3,}/g)?.length ?? 0) >= 2 ||
    /[^aeiouy]{6}/i.test(value) ||
    (/[a-z][A-Z]/.test(value) && /[^aeiouy]{5}/i.test(value)));

const words = /^[A-Za-z]+(?:[A-Z][a-z]+|[-_./:@ ][A-Za-z]+)*\d?$/;

/** @param isQuoted a value in quotes may contain punctuation of code */
export function mayBePassword(value: string, isQuoted: boolean): boolean {
  if (isCredible(value)) return true;
  if (value.length < 8 || value.length > 128 || isPlaceholder(value) || knownPasswords.test(value)) return false;
  if (measureSequences(value) >= 0.5 || isCode(value) || isProperty(value) || measureEntropy(value) < 2.4) return false;
  if (isPhrase(value) || (isQuoted && isScrambled(value))) return true;
  if (words.test(value)) return false;
  if (isPath(value) || (/^(?:https?:)?\/\/|^\.{0,2}\/|^[a-z]:\\|^(?:sha\d+|md5)[-:]/i.test(value) && !isDense(value)))
    return false;
  if (!isQuoted && /[(){}[\]<>|\\`"']/.test(value)) return false;
  if (!/[A-Za-z]/.test(value)) return false;
  const digits = value.replace(/\D/g, "").length;
  if (/^[a-z\d_]+$|^[A-Z\d_]+$|^[A-Z]?[a-z_]+\d+$/.test(value))
    return (
      (digits >= (isQuoted ? 2 : 3) || (value.length >= 10 && /[a-z]\d+[a-z]/i.test(value))) &&
      !numberedName.test(value)
    );
  return digits > 0 || (/[a-z]/.test(value) && /[A-Z]/.test(value) && /[^\w\s.-]/.test(value));
}

export const isPassword = (value: string): boolean =>
  !knownPasswords.test(value) && mayBePassword(value.padEnd(8, value), true);

/** Google's app passwords have four groups of four letters. */
export const readAppPassword = (text: string): string | undefined =>
  /^[a-z]{4}(?: [a-z]{4}){3}(?![\w ])/.exec(text)?.[0];
