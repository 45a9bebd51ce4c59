import {
  isCredible,
  isDense,
  isKey,
  isRandom,
  mayBePassword,
  measureEntropy,
  readAppPassword,
} from "#common/secrets/credible";
import { type Detector, findAfter, findPasswordAfter, readBefore } from "#common/secrets/detectors/detector";

/** Only the value shows that this is a secret, unless a user name precedes it. */
const keyField = (isSecret: (value: string) => boolean, ahead?: RegExp): Detector =>
  findPasswordAfter('"key":|"key\\":|"key\\\\\\":', /^\s?\\{0,7}"([\w+/=-]{20,128})\\{0,7}"/, isSecret, {
    chars: 150,
    mayBe: (text, end) => /^\s?\\{0,7}"[\w+/=-]{20}/.test(text.slice(end, end + 30)),
    ...(ahead && { ahead }),
  });

const maxPasswordChars = 64;

/** `pass: …` and `pw=…`. Other words also end in `pass` and `pw`. */
const shortName: Detector = {
  words: [
    "pass:",
    "pass=",
    "pass =",
    'pass":',
    'pass\\":',
    "pass':",
    "pw:",
    'pw":',
    'pw\\":',
    "pw=",
    "pw is ",
    "mdp:",
    "mdp :",
    "mdp=",
  ],
  // Logs of Go's tests are full of "--- PASS: TestX".
  mayBe: (text, end) => !text.startsWith(" Test", end),
  find(text, start, end) {
    if (!/(?:^|[^A-Za-z]|[a-z](?=P)|db|ssh|root|user|admin)$/.test(readBefore(text, start, 12))) return undefined;
    const [whole = "", quote = "", value = ""] =
      /^>?\s{0,2}(\\{0,7}["'`])?([^\s"'`\\]{4,128})/.exec(text.slice(end, end + 160)) ?? [];
    const from = end + whole.length - value.length;
    const appPassword = readAppPassword(text.slice(from, end + 200));
    const isQuoted = quote !== "" && text.startsWith(quote, end + whole.length);
    const secret = appPassword ?? (quote === "" ? value.replace(/[.,;)\]}]+$/, "") : value);
    if (secret.length > maxPasswordChars && !isKey(secret)) return undefined;
    if (!isQuoted && /[/&;]/.test(secret)) return undefined;
    if (!appPassword && !mayBePassword(secret, isQuoted)) return undefined;
    return { kind: "assignment", start: from, end: from + secret.length };
  },
};

export const settingValues: readonly Detector[] = [
  keyField(isDense),
  keyField(isKey, /username\\{0,7}":\s?\\{0,7}"[^"\\]{1,80}\\{0,7}",\s{0,20}\\{0,7}$/),
  shortName,
  // The salts and keys of WordPress may contain any character.
  findPasswordAfter(
    ["define('", "define( '", 'define("'],
    /^\w{0,20}_(?:KEY|SALT)["'],\s{0,24}'([^'\n]{40,128})'/,
    (value) => measureEntropy(value) >= 4 && isRandom(value),
  ),
  findPasswordAfter("key: ", /^\\{0,7}["']?([A-Za-z\d]{28,64})(?![\w/+=.-])/, isDense, {
    mayBe: (text, end, start) => /[0-9A-Za-z]/.test(text.charAt(end + 20)) && /\s/.test(text.charAt(start - 1)),
  }),
  findPasswordAfter("requirepass |masterauth |bindpw ", /^\s{0,8}["']?([^\s"'\\]{8,128})/, isCredible),
  findPasswordAfter(":5432:|:3306:", /^[\w*.-]{1,64}:[\w*.-]{1,64}:([^\s:"'\\]{6,128})(?![^\s"'\\])/),
  findPasswordAfter(
    "jwt.sign(|jwt.verify(|jwt.encode(|jwt.decode(",
    /^[^,\n]{1,80},\s?\\{0,7}["']([^\s"'\\]{12,256})\\{0,7}["']/,
    isCredible,
  ),
  findPasswordAfter(
    "client(|algoliasearch(",
    /^(?:\\{0,7}["'][^"'\n]{1,60}\\{0,7}["'],\s?)?\\{0,7}["']([\w-]{32,64})\\{0,7}["']/,
    isKey,
  ),
  findPasswordAfter(
    "getconnection(|mysqli(|mysqli_connect(|new pdo(",
    /^(?:\\{0,7}["'][^"'\n]{1,160}["'],\s?){2}\\{0,7}["']([^"'\n\\]{6,128})\\{0,7}["']/,
  ),
  findPasswordAfter("password) values (", /^(?:[^()\n]{0,200}, ?)?'([^'\n]{8,128})'\)/),
  findPasswordAfter("random_password", /^[\s\S]{0,360}?"result\\{0,7}":\s?\\{0,7}"([^\s"\\]{8,128})\\{0,7}"/, isRandom),
  findAfter(
    "private-key",
    "wallet(|privatekeytoaccount(|fromprivatekey(|from_key(",
    /^\\{0,7}["'](?:0x)?([\da-fA-F]{64})\\{0,7}["']/,
    isRandom,
  ),
  findAfter(
    "mnemonic",
    "mnemonic|seed phrase|seed_phrase|recovery phrase",
    /^(?: is)? ?[:=] ?["'`]?((?:[a-z]{3,8} ){11,23}[a-z]{3,8})(?![a-z ]*[a-z])/,
    (words) => new Set(words.split(" ")).size >= 9,
    { chars: 260 },
  ),
  findAfter("password-hash", "$2a$|$2b$|$2y$|$1$|$5$|$6$|$y$|$apr1$|$argon2", /^([\w$.,=/+-]{22,140})/, (value) =>
    isDense(value.slice(value.lastIndexOf("$") + 1)),
  ),
];
