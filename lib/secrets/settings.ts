import { afterWord, isKey } from "#lib/secrets/after-word";
import { readBefore } from "#lib/secrets/context";
import { measureEntropy, isCredible, isDense, isRandom } from "#lib/secrets/credible";
import { appPasswordIn, isPassword, mayBePassword } from "#lib/secrets/password";
import type { Detector } from "#lib/secrets/shape";
import { isAlnum } from "#lib/secrets/template";

/** `"key": "…"` in JSON, where nothing else says what it is: what is as varied as random letters, or stands beside a user's name. */
const plainKey: Detector = {
  words: ['"key":', '"key\\":', '"key\\\\\\":'],
  mayBe: (text, end) => /^\s?\\{0,7}"[\w+/=-]{20}/.test(text.slice(end, end + 30)),
  find(text, start, end) {
    const [whole = "", value = ""] = /^\s?\\{0,7}"([\w+/=-]{20,128})\\{0,7}"/.exec(text.slice(end, end + 150)) ?? [];
    const isOfUser = /username\\{0,7}":\s?\\{0,7}"[^"\\]{1,80}\\{0,7}",\s{0,20}\\{0,7}$/.test(readBefore(text, start, 130));
    if (value === "" || !(isOfUser ? isKey(value) : isDense(value))) return undefined;
    const from = end + whole.indexOf(value);
    return { kind: "assignment", start: from, end: from + value.length };
  },
};

/** The salts and keys of WordPress, which have all signs that a line may have. */
const salt: Detector = {
  words: ["define('", "define( '", 'define("'],
  find(text, _start, end) {
    const [whole = "", value = ""] =
      /^\w{0,20}_(?:KEY|SALT)["'],\s{0,24}'([^'\n]{40,128})'/.exec(text.slice(end, end + 220)) ?? [];
    if (value === "" || measureEntropy(value) < 4 || !isRandom(value)) return undefined;
    return { kind: "assignment", start: end + whole.length - 1 - value.length, end: end + whole.length - 1 };
  },
};

/** In YAML, below the name of a service; code has words there. */
const yamlKey: Detector = {
  ...afterWord("assignment", ["key: "], /^\\{0,7}["']?([A-Za-z\d]{28,64})(?![\w/+=.-])/, isDense),
  mayBe: (text, end, start) => isAlnum(text, end + 20) && /\s/.test(text.charAt(start - 1)),
};

/** What is longer is a key. */
const maxPassword = 64;

/** `pass: …` and `pw=…`, of which words end so, too. */
const shortName: Detector = {
  words: ["pass:", "pass=", "pass =", 'pass":', 'pass\\":', "pass':", "pw:", "pw=", "pw is "],
  // "--- PASS: TestX", of which logs of tests are full.
  mayBe: (text, end) => !text.startsWith(" Test", end),
  find(text, start, end) {
    if (!/(?:^|[^A-Za-z]|[a-z](?=P)|db|ssh|root|user|admin)$/.test(readBefore(text, start, 12))) return undefined;
    const [whole = "", quote = "", value = ""] =
      /^>?\s{0,2}(\\{0,7}["'`])?([^\s"'`\\]{4,128})/.exec(text.slice(end, end + 160)) ?? [];
    const from = end + whole.length - value.length;
    const ofApp = appPasswordIn(text.slice(from, end + 200));
    const isQuoted = quote !== "" && text.startsWith(quote, end + whole.length);
    const secret = ofApp ?? (quote === "" ? value.replace(/[.,;)\]}]+$/, "") : value);
    if (secret.length > maxPassword && !isKey(secret)) return undefined;
    if (!isQuoted && /[/&;]/.test(secret)) return undefined;
    if (!ofApp && !mayBePassword(secret, isQuoted)) return undefined;
    return { kind: "assignment", start: from, end: from + secret.length };
  },
};

/** The key of an Azure account. */
const accountKey: Detector = {
  ...afterWord(
    "azure",
    ['"value":', '"value\\":', '"value\\\\\\":'],
    /^\s?\\{0,7}"([A-Za-z\d+/]{86}==)\\{0,7}"/,
    isDense,
  ),
  mayBe: (text, end) =>
    text.slice(end + 86, end + 100).includes('=="') || text.slice(end + 86, end + 104).includes("==\\"),
};

const isHex = (value: string): boolean => /^[\da-f]{64,1024}$/i.test(value) && isRandom(value);

/** What stands in settings, code and what programs print, under names that say little. */
export const settings: readonly Detector[] = [
  plainKey,
  salt,
  shortName,
  yamlKey,
  afterWord("assignment", ["requirepass ", "masterauth ", "bindpw "], /^\s{0,8}["']?([^\s"'\\]{8,128})/, isCredible),
  afterWord("assignment", ["storepass ", "keypass "], /^["']?([^\s"'\\]{6,128})/, isPassword),
  afterWord(
    "assignment",
    ["jwt.sign(", "jwt.verify(", "jwt.encode(", "jwt.decode("],
    /^[^,\n]{1,80},\s?\\{0,7}["']([^\s"'\\]{12,256})\\{0,7}["']/,
    isCredible,
  ),
  afterWord(
    "assignment",
    ["random_password"],
    /^[\s\S]{0,360}?"result\\{0,7}":\s?\\{0,7}"([^\s"\\]{8,128})\\{0,7}"/,
    isRandom,
  ),
  accountKey,
  afterWord("assignment", ["mailgun"], /^[\s\S]{0,80}?\b([\da-f]{32}-[\da-f]{8}-[\da-f]{8})\b/, () => true),
  afterWord("assignment", ["service install ", "run --token "], /^(eyJ[\w-]{80,800}={0,2})/, isRandom, 900),
  afterWord("assignment", ["admin / ", "root / "], /^["'`]?([^\s"'`]{8,64})/, isPassword),
  afterWord("assignment", ["password) values ("], /^(?:[^()\n]{0,200}, ?)?'([^'\n]{8,128})'\)/, isPassword),
  afterWord("assignment", ["password for the "], /^[\w-]{1,40} user[^\n]{0,80}:\s{1,10}([^\s]{8,64})/, isCredible),
  afterWord("assignment", ["unseal key "], /^\d{1,2}: ([A-Za-z\d+/]{43,44}=?)/, isRandom),
  afterWord("signed-url", ["x-amz-signature=", "x-goog-signature="], /^([\da-f]{64,1024})/, isHex),
  afterWord(
    "private-key",
    ["wallet(", "privatekeytoaccount(", "fromprivatekey(", "from_key("],
    /^\\{0,7}["'](?:0x)?([\da-fA-F]{64})\\{0,7}["']/,
    isHex,
  ),
];
