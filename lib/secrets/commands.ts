import { readBefore } from "#lib/secrets/context";
import { isDense, isPair } from "#lib/secrets/credible";
import { isPassword } from "#lib/secrets/password";
import type { Detector } from "#lib/secrets/shape";

/** So much of a command is looked at before a word. */
const maxBefore = 160;
function lineBefore(text: string, at: number): string {
  const line = readBefore(text, at, maxBefore);
  return line.slice(Math.max(line.lastIndexOf("\n"), line.lastIndexOf("|"), line.lastIndexOf(";")) + 1);
}

/** `curl -u ada:password`, and the same of its like. */
const userOption: Detector = {
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
const passwordOption: Detector = {
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
const oracleLogin: Detector = {
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

const endsPassword = /[\s"'`@]/;
/** The longest password of one, with the name before it. */
const [maxPassword, maxNamed] = [128, 193];

/** `ada:password@tcp(host)`, as drivers for Go have it. Read backwards, since a pattern would try each of the places before it. */
const dataSource: Detector = {
  words: ["@tcp(", "@unix("],
  find(text, start) {
    const ahead = readBefore(text, start, maxNamed);
    let from = ahead.length;
    while (from > 0 && !endsPassword.test(ahead.charAt(from - 1))) from -= 1;
    for (let at = ahead.indexOf(":", from + 1); at !== -1; at = ahead.indexOf(":", at + 1)) {
      const length = ahead.length - at - 1;
      if (length > maxPassword || !/[\w.-]/.test(ahead.charAt(at - 1))) continue;
      if (length < 4 || !isPassword(ahead.slice(at + 1))) return undefined;
      return { kind: "url-password", start: start - length, end: start };
    }
    return undefined;
  },
};

/** `"auth": "YWRhOi4uLg=="` of Docker's settings and `_auth=` of npm's: a name and a password in Base64. */
const encodedPair: Detector = {
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
const signature: Detector = {
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
/** So much of a header is looked at for a name, and so much of a name. */
const [headerChars, nameChars] = [600, 70];
const endsSessionName = /(?:sess|sid|auth|token|jwt|login)[\w.-]{0,20}$/i;
const nameCharacter = /[\w.-]/;
const headerValue = /[\w%.~+/=-]{20,4000}/y;

/** Where the value of the first such cookie in a header is. Its name is read backwards, each once. */
function valueInHeader(header: string): [from: number, to: number] | undefined {
  const end = header.search(/["'\n]/);
  const last = end === -1 ? headerChars + nameChars : Math.min(end, headerChars + nameChars);
  for (let at = header.indexOf("="); at !== -1 && at < last; at = header.indexOf("=", at + 1)) {
    let from = at;
    while (from > 0 && at - from < nameChars && nameCharacter.test(header.charAt(from - 1))) from -= 1;
    if (!endsSessionName.test(header.slice(from, at))) continue;
    headerValue.lastIndex = at + 1;
    const [value] = headerValue.exec(header) ?? [];
    if (value) return [at + 1, at + 1 + value.length];
  }
  return undefined;
}
const inFile = new RegExp(
  String.raw`^(?:[^\t\n]{1,80}\t(?:TRUE|FALSE)\t)?\d{1,12}\t${sessionName}\t(\S{20,4000})`,
  "i",
);

function valueInFile(rest: string): [from: number, to: number] | undefined {
  const [whole = "", value = ""] = inFile.exec(rest) ?? [];
  return value === "" ? undefined : [whole.length - value.length, whole.length];
}

/** `Cookie: session=…`, the same in a command, and a line of a file of cookies. */
const cookie: Detector = {
  words: ["cookie: ", "cookie '", 'cookie "', "-b '", '-b "', "\ttrue\t"],
  find(text, start, end) {
    const rest = text.slice(end, end + 4700);
    const [from, to] = (text.charAt(start) === "\t" ? valueInFile(rest) : valueInHeader(rest)) ?? [0, 0];
    if (to === 0 || !isSession(rest.slice(from, to))) return undefined;
    return { kind: "cookie", start: end + from, end: end + to };
  },
};

/** The twelve to twenty-four words of a wallet. */
const mnemonic: Detector = {
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
export const commands: readonly Detector[] = [
  userOption,
  passwordOption,
  oracleLogin,
  dataSource,
  encodedPair,
  signature,
  cookie,
  mnemonic,
];
