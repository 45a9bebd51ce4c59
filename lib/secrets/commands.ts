import { isDense, isPair } from "#lib/secrets/credible";
import { before } from "#lib/secrets/nearby";
import { isPassword } from "#lib/secrets/password";
import type { Shape } from "#lib/secrets/shape";

/** So much of a command is looked at before a word. */
const maxBefore = 160;
function lineBefore(text: string, at: number): string {
  const line = before(text, at, maxBefore);
  return line.slice(Math.max(line.lastIndexOf("\n"), line.lastIndexOf("|"), line.lastIndexOf(";")) + 1);
}

/** `curl -u ada:password`, and the same of its like. */
const userOption: Shape = {
  words: ["-u ", "--user ", "--proxy-user ", " -a "],
  find(text, start, end) {
    if (!/\b(?:curl|wget|https?|xh|lftp)\b/.test(lineBefore(text, start))) return undefined;
    const [whole = "", user = "", password = ""] =
      /^\\{0,7}["']?([^\s:,"'\\]{1,128})[:,]([^\s"'\\]{4,256})/.exec(text.slice(end, end + 400)) ?? [];
    if (whole === "" || user.startsWith("$") || !isPassword(password)) return undefined;
    const from = end + whole.length - password.length;
    return { kind: "authorization", start: from, end: from + password.length };
  },
};

/** Programs that take a password with `-p`, `-a` or `-w`. */
const takesPassword =
  /\b(?:sshpass|mysql\w*|mariadb|redis-cli|mongo\w*|ldap\w+|sqlcmd|(?:docker|podman|helm|oras|skopeo|buildah|az)\s.*\blogin|zip|7z)\b/;

/** `mysql -pPASSWORD`, `sshpass -p PASSWORD`, `redis-cli -a PASSWORD`. */
const passwordOption: Shape = {
  words: [" -p", " -a ", " -w "],
  find(text, start, end) {
    if (!takesPassword.test(lineBefore(text, start))) return undefined;
    const [whole = "", password = ""] = /^\s?\\{0,7}["']?([^\s"'\\]{6,256})/.exec(text.slice(end, end + 300)) ?? [];
    if (!isPassword(password)) return undefined;
    const from = end + whole.length - password.length;
    return { kind: "assignment", start: from, end: from + password.length };
  },
};

/** `ada/password@host`, as Oracle's drivers and programs have it; a password may have an `@` before the last. */
const oracleLogin: Shape = {
  words: ["oracle:thin:", "oracle:oci:", "sqlplus ", "sqlplus64 ", "expdp ", "impdp ", "rman target "],
  find(text, start, end) {
    const [, option = "", user = "", password = ""] =
      /^((?:-\w{1,10} )?["']?)([\w.$#-]{1,64})\/([^\s"'\\/]{4,64})@(?=\/\/|[\w.-]{2,})/.exec(
        text.slice(end, end + 200),
      ) ?? [];
    if (user === "" || !isPassword(password)) return undefined;
    const from = end + option.length + user.length + 1;
    const kind = text.charAt(start) === "o" ? "url-password" : "assignment";
    return { kind, start: from, end: from + password.length };
  },
};

/** `ada:password@tcp(host)`, as drivers for Go have it. */
const dataSource: Shape = {
  words: ["@tcp(", "@unix("],
  find(text, start) {
    const [, password = ""] = /[\w.-]{1,64}:([^\s"'`@]{4,128})$/.exec(before(text, start, 200)) ?? [];
    if (password === "" || !isPassword(password)) return undefined;
    return { kind: "url-password", start: start - password.length, end: start };
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
    const [value = ""] =
      /^(?:[A-Za-z0-9%/+]{43,80}(?:%3D|=)|[\w-]{43}(?![\w%/+=-]))/i.exec(text.slice(end, end + 100)) ?? [];
    return value === "" || !isDense(value) ? undefined : { kind: "azure", start: end, end: end + value.length };
  },
};

/** Names of cookies that tell of a sign-in, and values as servers make them. */
const sessionName = String.raw`[\w.-]{0,40}(?:sess|sid|auth|token|jwt|login)[\w.-]{0,20}`;
const isSession = (value: string): boolean =>
  isDense(value.slice(0, 200)) || /^(?=\D{0,40}\d)(?:[\da-f]{26,}|[a-z\d]{24,}|[A-Z\d]{24,})$/.test(value);
const inHeader = new RegExp(String.raw`^[^\n"']{0,600}?\b${sessionName}=([\w%.~+/=-]{20,4000})`, "i");
const inFile = new RegExp(
  String.raw`^(?:[^\t\n]{1,80}\t(?:TRUE|FALSE)\t)?\d{1,12}\t${sessionName}\t(\S{20,4000})`,
  "i",
);

/** `Cookie: session=…`, the same in a command, and a line of a file of cookies. */
const cookie: Shape = {
  words: ["cookie: ", "cookie '", 'cookie "', "-b '", '-b "', "\ttrue\t"],
  find(text, start, end) {
    const pattern = text.charAt(start) === "\t" ? inFile : inHeader;
    const [whole = "", value = ""] = pattern.exec(text.slice(end, end + 4700)) ?? [];
    if (value === "" || !isSession(value)) return undefined;
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
export const commands: readonly Shape[] = [
  userOption,
  passwordOption,
  oracleLogin,
  dataSource,
  encodedPair,
  signature,
  cookie,
  mnemonic,
];
