import { isCredible, isDense, isPassword, isRandom, knownPasswords } from "#common/secrets/credible";
import {
  type Detector,
  findAfter,
  findPasswordAfter,
  readBefore,
  type SecretPlace,
} from "#common/secrets/detectors/detector";

/** `https://TOKEN@host`, as in Git, and the key of a Sentry DSN. */
function findUserToken(text: string, from: number): SecretPlace | undefined {
  const [, name = "", host = ""] =
    /^([\w-]{20,255})(?::[0-9a-f]{32})?@([\w.-]{3,100})/.exec(text.slice(from, from + 400)) ?? [];
  if (name === "") return undefined;
  const at = text.indexOf("@", from);
  const isDsn =
    /^[0-9a-f]{32}$/.test(name) && /^(?:[\w-]{1,40}\/)?\d+/.test(text.slice(at + host.length + 2, from + 400));
  if (isDsn) return { kind: "sentry", start: from, end: at };
  const isToken = isDense(name) || /^[0-9a-f]{32,}$/.test(name);
  return isToken ? { kind: "url-password", start: from, end: from + name.length } : undefined;
}

const userAndPassword =
  /^([^\s:/"'`<>()[\]{}|\\^,;]{0,128}):(?!\d{1,5}[?#&,;|])([^\s/"'`<>{}\\]{3,256})@(?=[\w.[$%{<-])/;
const placeholderPassword =
  /^[$%]\w*[$%]?$|^\$\(|^%[a-z]$|^(?:example|your|my|some|change|placeholder|x{3,}|\*+|redacted)/i;

/**
 * `scheme://user:password@host` (RFC 3986, section 3.2.1); passwords that people write there may contain punctuation,
 * even `@`.
 */
const urlPassword: Detector = {
  words: ["://"],
  mayBe(text, end) {
    for (let at = end; at < end + 400; at += 1) {
      const one = text.charCodeAt(at);
      if (one === 0x40) return true;
      if (!(one > 0x20) || one === 0x2f || one === 0x22) return false;
    }
    return false;
  },
  find(text, start, end) {
    if (!/[a-z0-9]/i.test(text.charAt(start - 1))) return undefined;
    const token = findUserToken(text, end);
    if (token) return token;
    const [, user = "", password = ""] = userAndPassword.exec(text.slice(end, end + 800)) ?? [];
    const isNone = password === "" || password === user || /^[A-Z_]+$/.test(password);
    if (isNone || knownPasswords.test(password) || placeholderPassword.test(password)) return undefined;
    const from = end + user.length + 1;
    return { kind: "url-password", start: from, end: from + password.length };
  },
};

/** `postgres://`, `postgresql://`, `mysql://`, `mongodb://`, `mongodb+srv://`, `redis://`, `rediss://`, `amqp://`, `amqps://` in Base64. */
const encodedSchemes = [
  "cG9zdGdyZXM6Ly9",
  "cG9zdGdyZXNxbDovL",
  "bXlzcWw6Ly9",
  "bW9uZ29kYjovL",
  "bW9uZ29kYitzcnY6Ly9",
].concat(["cmVkaXM6Ly", "cmVkaXNzOi8v", "YW1xcDovL", "YW1xcHM6Ly"]);

const encodedUrl: Detector = {
  words: encodedSchemes.map((head) => head.toLowerCase()),
  find(text, start, end) {
    if (!encodedSchemes.includes(text.slice(start, end))) return undefined;
    const [encoded = ""] = /^[A-Za-z\d+/]{16,800}={0,2}/.exec(text.slice(start, start + 820)) ?? [];
    const url = Buffer.from(encoded, "base64").toString("latin1");
    const [, password = ""] = /^[\w+]{3,20}:\/\/[^\s:/@]{0,80}:([^\s/@]{4,200})@/.exec(url) ?? [];
    if (password === "" || knownPasswords.test(password) || !isCredible(password.padEnd(8, password))) return undefined;
    return { kind: "url-password", start, end: start + encoded.length };
  },
};

/** `ada/password@host`; the last `@` ends the password. */
const oracleLogin = /^(?:-\w{1,10} )?["']?[\w.$#-]{1,64}\/([^\s"'\\/]{4,64})@(?=\/\/|[\w.-]{2,})/;

const endsPassword = /[\s"'`@]/;
const [maxPasswordChars, maxLoginChars] = [128, 193];

/** `ada:password@tcp(host)`, as drivers for Go write it. A pattern would try every place before it, so this reads backwards. */
const goDataSource: Detector = {
  words: ["@tcp(", "@unix("],
  find(text, start) {
    const ahead = readBefore(text, start, maxLoginChars);
    let from = ahead.length;
    while (from > 0 && !endsPassword.test(ahead.charAt(from - 1))) from -= 1;
    for (let at = ahead.indexOf(":", from + 1); at !== -1; at = ahead.indexOf(":", at + 1)) {
      const length = ahead.length - at - 1;
      if (length > maxPasswordChars || !/[\w.-]/.test(ahead.charAt(at - 1))) continue;
      if (length < 4 || !isPassword(ahead.slice(at + 1))) return undefined;
      return { kind: "url-password", start: start - length, end: start };
    }
    return undefined;
  },
};

const isHex = (value: string): boolean => /^[\da-f]{64,1024}$/i.test(value) && isRandom(value);

export const urlPasswords: readonly Detector[] = [
  urlPassword,
  encodedUrl,
  goDataSource,
  findAfter("url-password", "oracle:thin:|oracle:oci:", oracleLogin, isPassword, { chars: 200 }),
  findPasswordAfter("sqlplus |sqlplus64 |expdp |impdp |rman target ", oracleLogin, isPassword, { chars: 200 }),
  findAfter("azure", "sig=", /^([A-Za-z0-9%/+]{43,80}(?:%3D|=)|[\w-]{43}(?![\w%/+=-]))/i, isDense, {
    chars: 100,
    ahead: /[?&;]$/,
  }),
  findAfter("azure", "?code=|&code=", /^([\w-]{54}(?:==|%3D%3D))/i, isDense),
  findAfter("signed-url", "x-amz-signature=|x-goog-signature=", /^([\da-f]{64,1024})/, isHex),
];
