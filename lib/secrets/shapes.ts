import { isCredible, isDense, isRandom } from "#lib/secrets/credible";

/** A place in a text, from `start` to before `end`. */
export type Place = { kind: string; start: number; end: number };

/**
 * What is found by more than its beginning: words beside it, looked for in any case, and a function that is called with each
 * place where one stands. It reads a bounded stretch of text.
 */
export type Shape = { words: readonly string[]; find: (text: string, start: number, end: number) => Place | undefined };

const maxKeyChars = 16 * 1024;
const isWordChar = (text: string, at: number): boolean => /\w/.test(text.charAt(at));

/** A block of PEM (RFC 7468) or OpenSSH; without its end, as far as lines of Base64 go. */
const privateKey: Shape = {
  words: ["-----begin", "private-lines:"],
  find(text, start, end) {
    const rest = text.slice(end, end + maxKeyChars);
    if (text.startsWith("-----", start)) {
      const [head = "", body = ""] =
        /^ ?[A-Z0-9 ]{0,24}PRIVATE KEY(?: BLOCK)?-----((?:\s|\\[nrt]|["'+,]|[A-Za-z0-9+/=.:-](?!----))*)(.?-----END[A-Z0-9 ]{0,40}-----)?/.exec(
          rest,
        ) ?? [];
      const letters = body.replaceAll(/\\[nrt]|[^A-Za-z0-9+/]/g, "");
      return letters.length >= 40 && isRandom(letters.slice(0, 400))
        ? { kind: "private-key", start, end: end + head.length }
        : undefined;
    }
    const [lines = ""] = /^ *\d+\s+(?:[A-Za-z0-9+/=]{16,80}\s*)+/.exec(rest) ?? [];
    return lines === "" ? undefined : { kind: "private-key", start: end, end: end + lines.length };
  },
};

/** Passwords that everybody knows, in examples and local databases. */
const knownPasswords =
  /^(?:pass(?:word|wd)?|pwd|secret|admin|root|user(?:name)?|postgres(?:ql)?|mysql|redis|guest|test(?:ing|er)?|dev(?:elopment)?|local(?:host)?|demo|app|db|hunter2|letmein|qwerty|token|key|api[-_]?key|x-oauth-basic|x-access-token|oauth2|[\d*.]+)\d{0,4}$/i;

/** `scheme://user:password@host` (RFC 3986, section 3.2.1). */
const urlPassword: Shape = {
  words: ["://"],
  find(text, start, end) {
    if (!/[a-z0-9]/i.test(text.charAt(start - 1))) return undefined;
    const [, user = "", password = ""] =
      /^([^\s:/@"'`<>()[\]{}|\\^,;]{0,128}):([^\s/@"'`<>()[\]{}|\\^]{3,256})@[\w.[-]/.exec(
        text.slice(end, end + 400),
      ) ?? [];
    if (password === "" || knownPasswords.test(password) || /[$%]\w*$|^[$%]/.test(password)) return undefined;
    if (password === user || /^(?:example|your|my|some|change|placeholder|x+|\*+|redacted)/i.test(password))
      return undefined;
    if (/^[A-Z_]+$/.test(password)) return undefined;
    const from = end + user.length + 1;
    return { kind: "url-password", start: from, end: from + password.length };
  },
};

const credentials = /^[A-Za-z0-9+/]{12,2000}={0,2}(?![A-Za-z0-9+/=])/;

/** `Authorization: Bearer …` (RFC 6750) and `Basic …` (RFC 7617), and the same words in code and commands. */
const authorization: Shape = {
  words: ["bearer ", "basic ", "token "],
  find(text, start, end) {
    if (isWordChar(text, start - 1)) return undefined;
    const rest = text.slice(end, end + 4200);
    const [value = ""] = /^[A-Za-z0-9._~+/-]{16,4096}={0,2}/.exec(rest) ?? [];
    const scheme = text.slice(start, end).toLowerCase();
    if (scheme === "basic ") {
      const [encoded = ""] = credentials.exec(rest) ?? [];
      if (encoded === "" || !isPair(encoded)) return undefined;
      return { kind: "authorization", start: end, end: end + encoded.length };
    }
    const named =
      scheme === "token " && !/authorization["']?\s*[:=]\s*["']?$/i.test(text.slice(Math.max(0, start - 24), start));
    if (named || !/\d/.test(value) || !isCredible(value)) return undefined;
    return { kind: "authorization", start: end, end: end + value.length };
  },
};

/** Whether Base64 holds a name and a password, as `Basic` has them. */
function isPair(encoded: string): boolean {
  const [, name = "", password = ""] =
    /^([\x20-\x7e]{1,128}):([\x20-\x7e]{4,256})$/.exec(Buffer.from(encoded, "base64").toString("latin1")) ?? [];
  return name !== "" && !knownPasswords.test(password);
}

const names = [
  ..."password passwd passphrase passcode pwd secret token apikey api_key api-key accesskey access_key access-key".split(
    " ",
  ),
  ..."privatekey private_key private-key credential encryption_key encryptionkey signing_key master_key auth_key authkey".split(
    " ",
  ),
  ..."account_key storage_key license_key webhook_url _dsn _auth".split(" "),
];
/** What follows a name: the rest of it, and what assigns. */
const assigns = /^[\w.-]{0,40}?(?:\\?["'\]])?\s{0,4}(?:=>|:=|[=:](?![=:])|,(?=\s*\\?["']))\s{0,4}(\\?["'`])?/;
const asOption = /^[\w-]{0,40}[ =](["'])?/;
const values = /^[^\s"'`,;<>&|]{8,260}/;
const quotedValues = /^[^\s"'`]{8,260}/;

/** `PASSWORD=…`, `"apiKey": "…"`, `--token …`, `password …` of .netrc: a name that says so, and a value that may be one. */
const assignment: Shape = {
  words: names,
  find(text, start, end) {
    const rest = text.slice(end, end + 320);
    const before = text.slice(Math.max(0, start - 60), start);
    const isOption = /(?:^|\s)--[\w-]{0,40}$/.test(before);
    const [assigned = "", quote = ""] = (isOption ? asOption : assigns).exec(rest) ?? netrc(before, rest);
    if (assigned === "") return undefined;
    const [value = ""] = (quote === "" ? values : quotedValues).exec(rest.slice(assigned.length)) ?? [];
    const secret = value.replace(/\\+[nrt]?$|[.)\]}]+$/, "");
    if (isPlural(rest) || /^\d+:/.test(secret) || !isCredible(secret)) return undefined;
    const name = (/[\w.-]*$/.exec(before)?.[0] ?? "") + text.slice(start, end) + (/^[\w.-]*/.exec(rest)?.[0] ?? "");
    const from = end + assigned.length;
    return { kind: kindOf(name, secret, quote, before, isOption), start: from, end: from + secret.length };
  },
};

/** `tokens: 1,200`, `passwords.txt:12:` and the like: something about secrets, and none. */
const isPlural = (rest: string): boolean => /^(?:s|_?count|_?usage|_?limit|izer?)(?![a-z])/i.test(rest);

/** In .netrc a space assigns. */
const netrc = (before: string, rest: string): string[] =>
  /\blogin\s+\S+\s+$/.test(before) ? (/^\s+/.exec(rest) ?? []) : [];

function kindOf(name: string, value: string, quote: string, before: string, isOption: boolean): string {
  if (
    /secret/i.test(name) &&
    /aws|s3|access/i.test(name + before) &&
    /^[A-Za-z0-9/+]{40}$/.test(value) &&
    isDense(value)
  )
    return "aws-secret";
  if (/discord|bot/i.test(name) && /^[A-Za-z\d_-]{23,28}\.[\w-]{6,7}\.[\w-]{27,}$/.test(value)) return "discord";
  if (/^[0-9a-f]{32}-us\d{1,2}$/.test(value)) return "mailchimp";
  const isVariable = /^[A-Z][A-Z0-9_]*$/.test(name) && !isOption && quote !== "`";
  return isVariable && isDense(value) ? "environment" : "assignment";
}

/** What has its fixed letters in its middle. @param ahead a sticky pattern that begins at the word, in its own case */
const around = (kind: string, word: string, behind: RegExp, ahead: RegExp): Shape => ({
  words: [word.toLowerCase()],
  find(text, start) {
    ahead.lastIndex = start;
    const [rest = ""] = ahead.exec(text) ?? [];
    const [before = ""] = rest === "" ? [] : (behind.exec(text.slice(Math.max(0, start - 40), start)) ?? []);
    return before === "" || !isRandom(before + rest)
      ? undefined
      : { kind, start: start - before.length, end: start + rest.length };
  },
});

export const shapes: readonly Shape[] = [
  privateKey,
  urlPassword,
  authorization,
  assignment,
  around("telegram", ":AA", /(?<!\w)\d{8,10}$/, /:AA[\w-]{32,34}(?![\w-])/y),
  around("azure", "Q~", /(?<![\w~.-])[\w.~-]{3}\d$/, /Q~[\w.~-]{31,34}(?![\w~-])/y),
  around("mailchimp", "-us", /(?<!\w)[0-9a-f]{32}$/, /-us\d{1,2}(?!\w)/y),
  around("discord", ".G", /(?<![\w.-])[MNO][A-Za-z\d_-]{23,27}$/, /\.G[\w-]{5}\.[\w-]{27,38}(?![\w.-])/y),
];
