import { isCredible, isDense, isPair, knownPasswords } from "#lib/secrets/credible";
import { before } from "#lib/secrets/nearby";
import type { Shape } from "#lib/secrets/shape";

/** So much of a command is looked at before a word. */
const maxBefore = 160;
const lineBefore = (text: string, at: number): string => /[^\n|;]*$/.exec(before(text, at, maxBefore))?.[0] ?? "";

/** `curl -u ada:password`. */
const userOption: Shape = {
  words: ["-u ", "--user "],
  find(text, start, end) {
    if (!/\b(?:curl|wget|https?|xh)\b/.test(lineBefore(text, start))) return undefined;
    const [whole = "", user = "", password = ""] =
      /^\\{0,7}["']?([^\s:"'\\]{1,128}):([^\s"'\\]{4,256})/.exec(text.slice(end, end + 400)) ?? [];
    if (whole === "" || user.startsWith("$") || knownPasswords.test(password)) return undefined;
    if (!isCredible(password.padEnd(8, password))) return undefined;
    const from = end + whole.length - password.length;
    return { kind: "authorization", start: from, end: from + password.length };
  },
};

/** Programs that take a password with `-p`, `-a` or `-w`. */
const takesPassword =
  /\b(?:sshpass|mysql\w*|mariadb|redis-cli|mongo\w*|ldap\w+|sqlcmd|(?:docker|podman|helm|oras|skopeo|buildah)\s.*\blogin|zip|7z)\b/;

/** `mysql -pPASSWORD`, `sshpass -p PASSWORD`, `redis-cli -a PASSWORD`. */
const passwordOption: Shape = {
  words: [" -p", " -a ", " -w "],
  find(text, start, end) {
    if (!takesPassword.test(lineBefore(text, start))) return undefined;
    const [whole = "", password = ""] = /^\s?\\{0,7}["']?([^\s"'\\]{8,256})/.exec(text.slice(end, end + 300)) ?? [];
    if (!isCredible(password)) return undefined;
    const from = end + whole.length - password.length;
    return { kind: "assignment", start: from, end: from + password.length };
  },
};

/** `"auth": "YWRhOi4uLg=="` of Docker's settings and `_auth=` of npm's: a name and a password in Base64. */
const encodedPair: Shape = {
  words: ['auth"', 'auth\\"', 'auth\\\\\\"', "_auth=", "_auth ="],
  find(text, _start, end) {
    const [whole = "", encoded = ""] =
      /^\s{0,4}:?\s{0,4}\\{0,7}"?([A-Za-z0-9+/]{12,400}={0,2})(?![\w+/=])/.exec(text.slice(end, end + 420)) ?? [];
    if (encoded === "" || !isPair(encoded)) return undefined;
    const from = end + whole.length - encoded.length;
    return { kind: "authorization", start: from, end: from + encoded.length };
  },
};

/** The signature of an Azure URL. */
const signature: Shape = {
  words: ["sig="],
  find(text, start, end) {
    if (!/[?&;]$/.test(text.slice(Math.max(0, start - 1), start))) return undefined;
    const [value = ""] = /^[A-Za-z0-9%/+]{43,80}(?:%3D|=)/i.exec(text.slice(end, end + 100)) ?? [];
    return value === "" || !isDense(value) ? undefined : { kind: "azure", start: end, end: end + value.length };
  },
};

/** `Cookie: session=…`, of names that tell of a sign-in. */
const cookie: Shape = {
  words: ["cookie: "],
  find(text, _start, end) {
    const rest = text.slice(end, end + 2000);
    const [whole = "", value = ""] =
      /^[^\n"']{0,600}?\b[\w.-]{0,40}(?:sess|sid|auth|token|jwt|login)[\w.-]{0,20}=([\w%.~+/=-]{20,1000})/i.exec(
        rest,
      ) ?? [];
    if (value === "" || !isDense(value.slice(0, 200))) return undefined;
    const from = end + whole.length - value.length;
    return { kind: "cookie", start: from, end: from + value.length };
  },
};

/** The twelve to twenty-four words of a wallet. */
const mnemonic: Shape = {
  words: ["mnemonic", "seed phrase", "seed_phrase", "recovery phrase"],
  find(text, _start, end) {
    const [whole = "", words = ""] =
      /^(?: is)? ?[:=] ?["'`]?((?:[a-z]{3,8} ){11,23}[a-z]{3,8})(?![a-z ]*[a-z])/.exec(text.slice(end, end + 260)) ??
      [];
    if (new Set(words.split(" ")).size < 9) return undefined;
    return { kind: "mnemonic", start: end + whole.length - words.length, end: end + whole.length };
  },
};

/** What stands in commands, headers and settings without a name that assigns it. */
export const commands: readonly Shape[] = [userOption, passwordOption, encodedPair, signature, cookie, mnemonic];
