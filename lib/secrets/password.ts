// Whether a value may be a password that a person chose: shorter and plainer than a key, so that its name has to say what it is.
import {
  measureEntropy,
  isCredible,
  isDense,
  isPath,
  isPlaceholder,
  knownPasswords,
  measureSequences,
} from "#lib/secrets/credible";

/** Names of passwords; names of tokens and keys have longer values, which are judged by their letters alone. */
export const namesPassword =
  /pass(?!ed|es|ing|ive|age|port)|pwd|(?:^|[_-]|root)pw$|psk|contraseña|kennwort|wachtwoord|senha|identified by|密码|ароль|hasło|heslo/i;

/** What is none though it stands where one does: variables, templates, calls, and what code names a value. */
const isCode = (value: string): boolean =>
  /^[$@&%]\w+%?$|^[$%]\{?[A-Za-z_]|\$[({]|\{\{|\}\}|^<.*>$|^\[.*\]$|^\{.*\}$|^[\w.$]+[([].*[)\]][;,]?$|::|->|=>|\(\)\.|\|\w+:|^\/\*|:$/.test(
    value,
  );

/** Names joined by dots, as of a property; a number in their middle is of no name. */
const isProperty = (value: string): boolean =>
  /^[\w$]+(?:\??\.[\w$]+)+$/.test(value) && !(/\d[a-z]/i.test(value) && value.replace(/\D/g, "").length >= 2);

/** Words of code and of tests with a number: `sha256sum`, `newPassword2`, `test-user-1`, `oauth2client`. */
const isNamed =
  /(?:hash|salt|token|secret|value|input|param|field|user|sha|md|utf|uint|int|float|string|base|test|demo|mock|foo|bar|oauth|http|ipv|log|x|web|pass(?:word|wd)?|pwd)[\w-]*?\d+|^(?:v|h)\d|i18n|k8s|e2e|b64/i;

/** Four words and more, as people remember them; not those that code joins. */
const isPhrase = (value: string): boolean =>
  /^[a-z]{3,10}(?:[-_.][a-z]{3,10}){3,7}$/.test(value) &&
  !/pass|secret|token|key|reset|user|auth|field|input|form|test|error|valid|require|change|forgot|login|service|config|default/.test(
    value,
  );

/** Letters alone that are no words: capitals together twice, or consonants as no word has them. */
const isScrambled = (value: string): boolean =>
  /^[A-Za-z]{10,}\d{0,3}$/.test(value) &&
  /[a-z]/.test(value) &&
  ((value.match(/[A-Z]{3,}/g)?.length ?? 0) >= 2 ||
    /[^aeiouy]{6}/i.test(value) ||
    (/[a-z][A-Z]/.test(value) && /[^aeiouy]{5}/i.test(value)));

/** Words alone, in one case or joined as programmers join them, with at most one digit. */
const words = /^[A-Za-z]+(?:[A-Z][a-z]+|[-_./:@ ][A-Za-z]+)*\d?$/;

/**
 * Whether a value that something named a password was given may be one: letters and digits, or more, of which none are code.
 *
 * @param isQuoted whether quotes tell where it ends, so that it may have signs that code has.
 */
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
      (digits >= (isQuoted ? 2 : 3) || (value.length >= 10 && /[a-z]\d+[a-z]/i.test(value))) && !isNamed.test(value)
    );
  return digits > 0 || (/[a-z]/.test(value) && /[A-Z]/.test(value) && /[^\w\s.-]/.test(value));
}

/** The same where a command or a call says that it is one, also a short one. */
export const isPassword = (value: string): boolean =>
  !knownPasswords.test(value) && mayBePassword(value.padEnd(8, value), true);

/** Four groups of four letters at the beginning of a text, as Google shows passwords of apps. */
export const appPasswordIn = (text: string): string | undefined => /^[a-z]{4}(?: [a-z]{4}){3}(?![\w ])/.exec(text)?.[0];
