import { afterWord, isKey } from "#lib/secrets/after-word";
import { readBefore, isInWord } from "#lib/secrets/context";
import { isCredible, isDense, isRandom } from "#lib/secrets/credible";
import { appPasswordIn, isPassword } from "#lib/secrets/password";
import type { Detector } from "#lib/secrets/shape";

/** `echo PASSWORD | sudo -S …`, `| wrangler secret put …` and the like: the word is behind the secret. */
const piped: Detector = {
  words: ["sudo -s", "password-stdin", "secret put", "secret set", "env add", "chpasswd", "data-file=-", "pass insert"],
  find(text, start) {
    const [whole = "", value = ""] =
      /(?:echo|printf)\s(?:-n\s)?["']?([^\s"'|]{6,128})["']?\s?\|[^|\n]{0,120}$/.exec(readBefore(text, start, 400)) ?? [];
    if (value === "" || !isPassword(value)) return undefined;
    const at = start - whole.length + whole.indexOf(value);
    return { kind: "assignment", start: at, end: at + value.length };
  },
};

/** A type of JSON Web Keys, also in JSON in a text, and as Node prints an object. */
const keyType = (type: string) => new RegExp(String.raw`\bkty(?:\\{0,7}")?\s?:\s?\\{0,7}["']${type}`);
/** The parts of a JSON Web Key that are private (RFC 7518, section 6), and of which type of keys they are. */
const keyTypes: Record<string, RegExp | undefined> = { d: keyType(""), k: keyType("oct\\b") };
const ofRsa = keyType("RSA");
const maxPart = 1400;

/** The private parts of a JSON Web Key; its type may stand behind all of them. */
const webKey: Detector = {
  words: ["d", "k", "p", "q", "dp", "dq", "qi"].flatMap((name) => [
    `"${name}":`,
    `"${name}\\":`,
    `"${name}\\\\\\":`,
    ` ${name}: '`,
  ]),
  mayBe: (text, end) => /^(?:\s?\\{0,7}")?[\w-]{22}/.test(text.slice(end, end + 31)),
  find(text, start, end) {
    const [whole = "", value = ""] =
      /^(?:\s?\\{0,7}")?([\w-]{22,1400})\\{0,7}["']/.exec(text.slice(end, end + maxPart + 20)) ?? [];
    if (value === "" || !isDense(value.slice(0, 200))) return undefined;
    const [name = ""] = /[a-z]+/.exec(text.slice(start, end)) ?? [];
    const type = keyTypes[name] ?? ofRsa;
    if (!type.test(text.slice(Math.max(0, start - 3000), end + 3000))) return undefined;
    const from = end + whole.indexOf(value);
    return { kind: "private-key", start: from, end: from + value.length };
  },
};

/** What twenty-one and more A begin: the bearer token of an app at X. */
const appBearer: Detector = {
  words: ["a".repeat(20)],
  // Zeros in Base64 are thousands of A.
  mayBe: (text, _, start) => text.charAt(start) === "A" && !isInWord(text, start) && text.charAt(start - 1) !== "/",
  find(text, start, end) {
    const [rest = ""] = /^A{0,6}[A-Za-z\d%]{60,160}(?![\w%+/=])/.exec(text.slice(end, end + 170)) ?? [];
    return isDense(rest.replace(/^A+/, "")) ? { kind: "twitter", start, end: end + rest.length } : undefined;
  },
};

/** A token of an app at Vercel. Names in code begin alike, so that it has to be as varied as random letters. */
const vercelApp: Detector = {
  words: ["vca_", "vci_", "vcr_"],
  mayBe: (text, end, start) => /^[a-z]{3}_$/.test(text.slice(start, end)) && !isInWord(text, start),
  find(text, start, end) {
    const [rest = ""] = /^[A-Za-z\d]{24,80}(?!\w)/.exec(text.slice(end, end + 81)) ?? [];
    return isDense(rest) && isRandom(rest) ? { kind: "vercel", start, end: end + rest.length } : undefined;
  },
};

/** A token as the name in the URL of a repository. */
const asName: Detector = {
  words: [":x-oauth-basic@"],
  find(text, start) {
    const [value = ""] = /(?<![\w-])[\w-]{20,255}$/.exec(readBefore(text, start, 256)) ?? [];
    return isKey(value) && isRandom(value) ? { kind: "github", start: start - value.length, end: start } : undefined;
  },
};

/** What is known by a command, a call or a place beside it. */
export const calls: readonly Detector[] = [
  piped,
  webKey,
  appBearer,
  vercelApp,
  asName,
  afterWord("npm", ["_authtoken="], /^["']?([\w.+/=-]{20,400})/, isCredible),
  afterWord(
    "authorization",
    ["wandb login ", "shodan init ", "authtoken ", "auth login "],
    /^["']?([\w-]{32,64})(?![\w-])/,
    isKey,
  ),
  afterWord(
    "assignment",
    ["client(", "algoliasearch("],
    /^(?:\\{0,7}["'][^"'\n]{1,60}\\{0,7}["'],\s?)?\\{0,7}["']([\w-]{32,64})\\{0,7}["']/,
    isKey,
  ),
  afterWord(
    "discord",
    ["login('", 'login("', 'login(\\"'],
    /^([MNO][\w-]{23,27}\.[\w-]{6,7}\.[\w-]{27,38})\\{0,7}["']/,
    isDense,
  ),
  afterWord(
    "authorization",
    ["login('", 'login("', 'login(\\"', "auth=(", "auth = (", "basicauth("],
    /^\\{0,7}["']?[^"'\n]{1,80}\\{0,7}["'],\s?\\{0,7}["']([^"'\n\\]{6,128})\\{0,7}["']/,
    (value) => isPassword(value) || appPasswordIn(value) === value,
  ),
  afterWord(
    "authorization",
    ["authorization: ", 'authorization": ', 'authorization\\": ', "authorization', "],
    /^\\{0,7}["']?(?!bearer|basic|token)[a-z][\w-]{1,20} ([\w.~+/=-]{16,4096})/i,
    (value) => /\d/.test(value) && isCredible(value.slice(0, 200)),
  ),
  afterWord(
    "assignment",
    ["getconnection(", "mysqli(", "mysqli_connect(", "new pdo("],
    /^(?:\\{0,7}["'][^"'\n]{1,160}["'],\s?){2}\\{0,7}["']([^"'\n\\]{6,128})\\{0,7}["']/,
    isPassword,
  ),
  afterWord("assignment", ["securestring "], /^(?:-String )?["']([^\s"']{6,128})["']/, isPassword),
  afterWord("assignment", ["pass pass:", "passin pass:", "passout pass:"], /^([^\s"'\\]{6,128})/, isPassword),
  afterWord(
    "assignment",
    [":5432:", ":3306:"],
    /^[\w*.-]{1,64}:[\w*.-]{1,64}:([^\s:"'\\]{6,128})(?![^\s])/,
    isPassword,
  ),
  afterWord("azure", ["?code=", "&code="], /^([\w-]{54}(?:==|%3D%3D))/i, isDense),
  afterWord(
    "password-hash",
    ["$2a$", "$2b$", "$2y$", "$1$", "$5$", "$6$", "$y$", "$apr1$", "$argon2"],
    /^([\w$.,=/+-]{22,140})/,
    (value) => isDense(value.slice(value.lastIndexOf("$") + 1)),
  ),
];
