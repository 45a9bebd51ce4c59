/** What stands where a secret would be, in examples and templates. */
const placeholder =
  /example|sample|placeholder|dummy|change[-_]?me|redacted|replace|insert|your[-_ ]?|my[-_]?(?:secret|token|key|password)|x{4}|\*{3}|\.{3}|…|(?:^|[^a-z])(?:fake|mock|null|undefined|none|todo|test[-_]?(?:key|token|secret|password))(?:$|[^a-z])/i;

const maxRow = 5;

/** Whether a text has a row of more than five of one letter, in any case; a pattern with a back reference takes three times as long. */
function hasRow(text: string): boolean {
  let row = 1;
  for (let at = 1; at < text.length; at += 1) {
    row = (text.charCodeAt(at) | 0x20) === (text.charCodeAt(at - 1) | 0x20) ? row + 1 : 1;
    if (row > maxRow) return true;
  }
  return false;
}

/** Whether a text has what examples and templates have where a secret would be. */
export const isPlaceholder = (text: string): boolean => hasRow(text) || placeholder.test(text);

const entropyChars = 400;
/** How often each character stands in a text: all zero again after it, so that a short text takes few steps. */
const counts = new Uint16Array(128);
const timesLog2 = Float64Array.from({ length: entropyChars + 1 }, (_, count) => count * Math.log2(Math.max(1, count)));

/** Shannon's entropy of a text's first 400 characters, in bits a character; those beyond ASCII count as others. */
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

/** The part of neighbours in a text that follow each other, as in `abcdef` and `123456`. */
export function measureSequences(text: string): number {
  let following = 0;
  for (let at = 1; at < text.length; at += 1) {
    const step = text.charCodeAt(at) - text.charCodeAt(at - 1);
    if (step === 1 || step === -1 || step === 0) following += 1;
  }
  return following / Math.max(1, text.length - 1);
}

/** Zeros in Base64, as each key of OpenSSH has them; in a short text they would tell that it is an example. */
const zeros = /a{4,}/gi;
const longChars = 60;

/** Whether the part of a secret behind its beginning may be one: no placeholder, and no row of letters. */
export function isRandom(text: string): boolean {
  const rest = text.length > longChars ? text.replace(zeros, "A") : text;
  return !isPlaceholder(rest) && measureSequences(rest) < 0.5 && measureEntropy(rest) >= Math.min(3, Math.log2(rest.length) * 0.7);
}

/** Words joined as programmers join them: `getAccessToken`, `my-service-token`, `config.auth.token`, `API_TOKEN`. */
const identifier = /^[A-Za-z]+(?:\d{0,2}[A-Z][a-z]+|[-_./:@][A-Za-z]+)*\d{0,2}$/;
const characterKinds = [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z0-9]/];

/**
 * Random letters: many are of another case than the one before, and several capitals stand together more than once; or sixteen
 * small ones that no word has beside each other, as Google makes passwords of apps.
 */
function isShuffled(value: string): boolean {
  if (/^[a-z]{16}$/.test(value)) return /[^aeiouy]{5}/.test(value);
  if (value.length < 12 || !/^[A-Za-z!#$%*+=@^]+\d{0,2}$/.test(value) || measureEntropy(value) < 3.3) return false;
  const changes = (value.match(/[a-z](?=[A-Z])|[A-Z](?=[a-z])/g)?.length ?? 0) / value.length;
  return changes >= 0.5 || (changes >= 1 / 3 && (value.match(/[A-Z]{2,}/g)?.length ?? 0) >= 2);
}

/** From the root, the home folder or a drive, through a folder whose name is a word: Base64 has none there. */
export const isPath = (value: string): boolean => /^(?:~|\.{1,2}|[A-Za-z]:)?[/\\][A-Za-z][a-z]+[/\\]|^~\//.test(value);

/** What is longer is no password; it is a key where it is as varied as one. */
const maxChars = 256;
/** So many characters of it are weighed. */
const keyChars = 200;
const isLongKey = (value: string): boolean =>
  /^[\w+/=.~%-]+$/.test(value) && isDense(value.slice(0, keyChars)) && isRandom(value.slice(0, keyChars));

/**
 * Whether a value that something called a password or key was given may be one. Code, words, paths, numbers and what examples
 * have there is none.
 */
export function isCredible(value: string): boolean {
  if (value.length > maxChars) return isLongKey(value);
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

/** A key as Django makes them, which has punctuation. */
export const isDjangoKey = (value: string): boolean =>
  /^(?:django-insecure-)?[a-z\d!@#$%^&*(\-_=+)]{40,60}$/.test(value) &&
  /[!@#$%^&*(=+)]/.test(value) &&
  measureEntropy(value) >= 4;

/** Whether a text is as varied as random letters and digits are. */
export const isDense = (value: string): boolean =>
  value.length >= 20 && characterKinds.slice(0, 3).every((one) => one.test(value)) && measureEntropy(value) >= 3.7;

/** Passwords that everybody knows, in examples and local databases. */
export const knownPasswords =
  /^(?:(?:test|my|super|some|new|old|wrong|bad|good|valid|invalid|strong|weak|short|long|secure|correct|admin|user|root|db)?[-_ ]?(?:pass(?:word|wd)?|pwd|secret)|admin|root|user(?:name)?|postgres(?:ql)?|mysql|redis|guest|test(?:ing|er)?|dev(?:elopment)?|local(?:host)?|demo|app|db|hunter2|letmein|qwerty|token|key|api[-_]?key|x-oauth-basic|x-access-token|oauth2|[\d*.]+)[-_]?\d{0,4}[!@#$.]{0,2}$/i;

/** Whether Base64 holds a name and a password, as `Basic` has them. */
export function isPair(encoded: string): boolean {
  const [, name = "", password = ""] =
    /^([\x20-\x7e]{1,128}):([\x20-\x7e]{4,256})$/.exec(Buffer.from(encoded, "base64").toString("latin1")) ?? [];
  return name !== "" && !knownPasswords.test(password);
}
