import { commands } from "#lib/secrets/commands";
import { isCredible, isDense, isPair, isRandom, knownPasswords } from "#lib/secrets/credible";
import type { Shape } from "#lib/secrets/shape";

const maxKeyChars = 16 * 1024;
const isWordChar = (text: string, at: number): boolean => /\w/.test(text.charAt(at));

/** A block of PEM (RFC 7468) or OpenSSH; without its end, as far as lines of Base64 go. */
const privateKey: Shape = {
  words: ["-----begin", "private-lines:"],
  find(text, start, end) {
    const rest = text.slice(end, end + maxKeyChars);
    if (text.startsWith("-----", start)) {
      const [head = "", body = ""] =
        /^ ?[A-Z0-9 ]{0,24}PRIVATE KEY(?: BLOCK)?-----((?:\s|\\+[nrt]|["'+,|]|[^\0-\x7f]|[A-Za-z0-9+/=.:-](?!----))*)(.?-----END[A-Z0-9 ]{0,40}-----)?/.exec(
          rest,
        ) ?? [];
      const letters = body.replaceAll(/\\+[nrt]|[^A-Za-z0-9+/]/g, "");
      return letters.length >= 40 && isRandom(letters.slice(0, 400))
        ? { kind: "private-key", start, end: end + head.length }
        : undefined;
    }
    const [lines = ""] = /^ *\d+\s+(?:[A-Za-z0-9+/=]{16,80}\s*)+/.exec(rest) ?? [];
    return lines === "" ? undefined : { kind: "private-key", start: end, end: end + lines.length };
  },
};

/** `scheme://user:password@host` (RFC 3986, section 3.2.1). */
const urlPassword: Shape = {
  words: ["://"],
  find(text, start, end) {
    if (!/[a-z0-9]/i.test(text.charAt(start - 1))) return undefined;
    const [, user = "", password = ""] =
      /^([^\s:/@"'`<>()[\]{}|\\^,;]{0,128}):([^\s/@"'`<>()[\]{}|\\^]{3,256})@[\w.[-]/.exec(
        text.slice(end, end + 400),
      ) ?? [];
    if (password === "" || knownPasswords.test(password) || /^[$%]|\$\w*$|%[a-z]?$/.test(password)) return undefined;
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
    if (named || !/\d/.test(value) || !isCredible(value.slice(0, 200))) return undefined;
    return { kind: "authorization", start: end, end: end + value.length };
  },
};

const names = [
  ..."password passwd passphrase passcode pwd secret token apikey api_key api-key accesskey access_key access-key".split(
    " ",
  ),
  ..."privatekey private_key private-key credential encryption_key encryptionkey signing_key master_key auth_key authkey".split(
    " ",
  ),
  ..."account_key storage_key license_key webhook_url _dsn _auth _pass -pass psk".split(" "),
];
/** Names of much else, too: only what is as varied as random letters is taken for a secret. */
const weakNames = ["_key", "-key", "_pat"];
/** What follows a name: the rest of it, and what assigns. */
const assigns = /^[\w.-]{0,40}?(?:\\?["'\]])?\s{0,4}(?:=>|:=|[=:](?![=:])|is:?\s|,(?=\s*\\?["']))\s{0,4}(\\?["'`])?/;
const asOption = /^[\w-]{0,40}[ =](["'])?/;
const values = /^[^\s"'`,;<>&|]{8,260}/;
const quotedValues = /^[^\s"'`]{8,260}/;

/** `PASSWORD=…`, `"apiKey": "…"`, `--token …`, `password …` of .netrc: a name that says so, and a value that may be one. */
const assignment: Shape = {
  words: [...names, ...weakNames],
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
    const isWeak = weakNames.includes(text.slice(start, end).toLowerCase());
    if (isWeak && (/^[a-z]/i.test(rest) || !(isDense(secret) || isLong(secret)))) return undefined;
    if (/publi(?:c|shable)/i.test(name)) return undefined;
    const from = end + assigned.length;
    return { kind: kindOf(name, secret, quote, before, isOption), start: from, end: from + secret.length };
  },
};

/** As keys of small letters and digits are, also in hexadecimal. */
const isLong = (secret: string): boolean => /^[a-z\d]{32,}$/.test(secret);

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
    const [before = ""] = rest === "" ? [] : (behind.exec(text.slice(Math.max(0, start - 80), start)) ?? []);
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
  ...commands,
  around("telegram", ":AA", /(?:(?<=\bbot)|(?<!\w))\d{8,10}$/, /:AA[\w-]{32,34}(?![\w-])/y),
  around("azure", "Q~", /(?<![\w~.-])[\w.~-]{3}\d$/, /Q~[\w.~-]{31,34}(?![\w~-])/y),
  around("azure", "AZDO", /(?<!\w)[A-Za-z\d]{76}$/, /AZDO[A-Za-z\d]{4}(?!\w)/y),
  around("terraform", ".atlasv1.", /(?<!\w)[A-Za-z\d]{14}$/, /\.atlasv1\.[\w-]{60,70}(?![\w-])/y),
  around("maxmind", "_mmk", /(?<!\w)[A-Za-z\d]{6}_[A-Za-z\d]{29}$/, /_mmk(?!\w)/y),
  around("mailchimp", "-us", /(?<!\w)[0-9a-f]{32}$/, /-us\d{1,2}(?!\w)/y),
  around("discord", ".G", /(?<![\w.-])[MNO][A-Za-z\d_-]{23,27}$/, /\.G[\w-]{5}\.[\w-]{27,38}(?![\w.-])/y),
];
