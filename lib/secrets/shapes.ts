import { calls } from "#lib/secrets/calls";
import { commands } from "#lib/secrets/commands";
import { readBefore, isInWord } from "#lib/secrets/context";
import { isCredible, isDense, isPair, isRandom, knownPasswords } from "#lib/secrets/credible";
import { encoded } from "#lib/secrets/encoded";
import { assigned } from "#lib/secrets/named-values";
import { printed } from "#lib/secrets/printed";
import { programs } from "#lib/secrets/programs";
import { settings } from "#lib/secrets/settings";
import type { SecretPlace, Detector } from "#lib/secrets/shape";
import { tables } from "#lib/secrets/tables";

const maxKeyChars = 16 * 1024;
const beginOfKey = /^(?: |\+|%20)?(?:[A-Z\d]{1,12}(?: |\+|%20)){0,3}PRIVATE(?: |\+|%20)KEY(?:(?: |\+|%20)BLOCK)?-----/;
/** The end may have a diff's sign before it. */
const endOfKey = /^-{5,6}END[A-Z\d +%]{0,60}-----/;
/** A line of a key, or most of it. */
const lineOfKey = /[A-Za-z\d+/]{40}/;
/** Lines as of a key, for one without an end. */
const linesOfKey = /^(?:\s|\\+(?:[nrt"']|(?=\s))|["'+,|]|[^\0-\x7f]|[A-Za-z0-9+/=.:>#*_-](?!----))*/;

/** The length of a key's lines and its end, whatever each line has around it: what joins texts in a language, colours, HTML. */
function lengthOfKey(rest: string): number {
  const to = rest.indexOf("-----");
  const [end = ""] = to < 0 ? [] : (endOfKey.exec(rest.slice(to, to + 80)) ?? []);
  const [line = ""] = end === "" ? [] : (lineOfKey.exec(rest.slice(0, to)) ?? []);
  if (line !== "" && isRandom(line)) return to + end.length;
  const [lines = ""] = linesOfKey.exec(rest) ?? [];
  const letters = lines.replaceAll(/\\+[nrt]|[^A-Za-z0-9+/]/g, "");
  return letters.length >= 40 && isRandom(letters.slice(0, 400)) ? lines.length : 0;
}

/** A block of PEM (RFC 7468) or OpenSSH; without its end, as far as lines of Base64 go. */
const privateKey: Detector = {
  words: ["-----begin", "private-lines:"],
  isLinear: true,
  find(text, start, end) {
    const rest = text.slice(end, end + maxKeyChars);
    if (text.startsWith("-----", start)) {
      const [begin = ""] = beginOfKey.exec(rest) ?? [];
      const length = begin === "" ? 0 : lengthOfKey(rest.slice(begin.length));
      return length > 0 ? { kind: "private-key", start, end: end + begin.length + length } : undefined;
    }
    const [lines = ""] = /^ *\d+\s+(?:[A-Za-z0-9+/=]{16,80}\s*)+/.exec(rest) ?? [];
    return lines === "" ? undefined : { kind: "private-key", start: end, end: end + lines.length };
  },
};

/** `https://TOKEN@host`, as of Git, and the key of a Sentry DSN. */
function nameOfUrl(text: string, from: number): SecretPlace | undefined {
  const [, name = "", host = ""] =
    /^([\w-]{20,255})(?::[0-9a-f]{32})?@([\w.-]{3,100})/.exec(text.slice(from, from + 400)) ?? [];
  if (name === "") return undefined;
  const isDsn =
    /^[0-9a-f]{32}$/.test(name) &&
    /^(?:[\w-]{1,40}\/)?\d+/.test(text.slice(text.indexOf("@", from) + host.length + 2, from + 400));
  if (isDsn) return { kind: "sentry", start: from, end: text.indexOf("@", from) };
  return isDense(name) || /^[0-9a-f]{32,}$/.test(name)
    ? { kind: "url-password", start: from, end: from + name.length }
    : undefined;
}

/** `scheme://user:password@host` (RFC 3986, section 3.2.1); people leave signs in passwords, an `@` too, as they are. */
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
    const name = nameOfUrl(text, end);
    if (name) return name;
    const [, user = "", password = ""] =
      /^([^\s:/"'`<>()[\]{}|\\^,;]{0,128}):(?!\d{1,5}[?#&,;|])([^\s/"'`<>{}\\]{3,256})@(?=[\w.[$%{<-])/.exec(
        text.slice(end, end + 800),
      ) ?? [];
    if (password === "" || knownPasswords.test(password) || /^[$%]\w*[$%]?$|^\$\(|^%[a-z]$/i.test(password))
      return undefined;
    if (password === user || /^(?:example|your|my|some|change|placeholder|x{3,}|\*+|redacted)/i.test(password))
      return undefined;
    if (/^[A-Z_]+$/.test(password)) return undefined;
    const from = end + user.length + 1;
    return { kind: "url-password", start: from, end: from + password.length };
  },
};

const credentials = /^[A-Za-z0-9+/]{12,2000}={0,2}(?![A-Za-z0-9+/=])/;

/** `Authorization: Bearer …` (RFC 6750) and `Basic …` (RFC 7617), and the same words in code and commands. */
const authorization: Detector = {
  words: ["bearer ", "basic ", "token ", "apikey ", "api-key ", "ssws ", "geniekey "],
  mayBe(text, end) {
    for (let at = end; at < end + 12; at += 1) if (!(text.charCodeAt(at) > 0x2a)) return false;
    return true;
  },
  find(text, start, end) {
    if (isInWord(text, start)) return undefined;
    const rest = text.slice(end, end + 4200);
    const [value = ""] = /^(?:[A-Za-z0-9._~+/|-]|:(?!\/\/)){16,4096}={0,2}/.exec(rest) ?? [];
    const scheme = text.slice(start, end).toLowerCase();
    if (scheme === "basic ") {
      const [encoded = ""] = credentials.exec(rest) ?? [];
      if (encoded === "" || !isPair(encoded)) return undefined;
      return { kind: "authorization", start: end, end: end + encoded.length };
    }
    const named =
      !["bearer ", "basic "].includes(scheme) &&
      !/authorization\\{0,7}["']?\s{0,4}[:=]\s{0,4}\\{0,7}["']?$/i.test(readBefore(text, start, 40));
    // Laravel and JetBrains join parts.
    if (named || !/\d/.test(value) || !isCredible(value.slice(0, 200).replace(/[|:]/g, ""))) return undefined;
    return { kind: "authorization", start: end, end: end + value.length };
  },
};

/** What has its fixed letters in its middle. @param ahead a sticky pattern that begins at the word, in its own case */
const around = (kind: string, word: string, behind: RegExp, ahead: RegExp): Detector => ({
  words: [word.toLowerCase()],
  mayBe: (text, end) => text.startsWith(word, end - word.length),
  find(text, start) {
    ahead.lastIndex = start;
    const [rest = ""] = ahead.exec(text) ?? [];
    const [head = ""] = rest === "" ? [] : (behind.exec(readBefore(text, start, 80)) ?? []);
    return head === "" || !isRandom(head + rest)
      ? undefined
      : { kind, start: start - head.length, end: start + rest.length };
  },
});

export const shapes: readonly Detector[] = [
  privateKey,
  urlPassword,
  authorization,
  ...assigned,
  ...commands,
  ...calls,
  ...settings,
  ...encoded,
  ...printed,
  ...tables,
  ...programs,
  around("telegram", ":AA", /(?:(?<=\bbot)|(?<!\w))\d{8,10}$/, /:AA[\w-]{32,34}(?![\w-])/y),
  around("azure", "Q~", /(?<![\w~.-])[\w.~-]{3}\d$/, /Q~[\w.~-]{31,34}(?![\w~-])/y),
  around("azure", "JQQJ99", /(?<!\w)[A-Za-z\d]{52,76}$/, /JQQJ99[A-Za-z\d]{4,40}(?!\w)/y),
  around("azure", "AZDO", /(?<!\w)[A-Za-z\d]{76}$/, /AZDO[A-Za-z\d]{4}(?!\w)/y),
  // What Microsoft writes into the keys of its services, before the last six characters.
  around("azure", "+ASt", /(?<![\w+/])[A-Za-z\d+/]{76}$/, /\+ASt[A-Za-z\d+/]{6}==/y),
  around("azure", "+ABa", /(?<![\w+/])[A-Za-z\d+/]{76}$/, /\+ABa[A-Za-z\d+/]{6}==/y),
  around("azure", "+AMC", /(?<![\w+/])[A-Za-z\d+/]{76}$/, /\+AMC[A-Za-z\d+/]{6}==/y),
  around("azure", "ACDb", /(?<![\w+/])[A-Za-z\d+/]{76}$/, /ACDb[A-Za-z\d+/]{6}==/y),
  around("azure", "APIM", /(?<![\w+/])[A-Za-z\d+/]{76}$/, /APIM[A-Za-z\d+/]{6}==/y),
  around("azure", "AzFu", /(?<![\w-])[\w-]{44}$/, /AzFu[\w-]{6}==/y),
  around("azure", "AzSe", /(?<!\w)[A-Za-z\d]{42}$/, /AzSe[A-Za-z\d]{6}(?!\w)/y),
  around("azure", "AzCa", /(?<!\w)[A-Za-z\d]{33}$/, /AzCa[A-Za-z\d]{6}=/y),
  around("azure", "+ACR", /(?<![\w+/])[A-Za-z\d+/]{42}$/, /\+ACR[A-Za-z\d+/]{6}(?![\w+/])/y),
  ...["+ARm", "+AEh", "+ASb", "AIoT"].map((mark) =>
    around(
      "azure",
      mark,
      /(?<![\w+/])[A-Za-z\d+/]{33}$/,
      new RegExp(`${mark.replace("+", "\\+")}[A-Za-z\\d+/]{6}=`, "y"),
    ),
  ),
  around("google", ":APA91b", /(?<![\w-])[\w-]{11,22}$/, /:APA91b[\w-]{120,200}(?![\w-])/y),
  around("newrelic", "NRAL", /(?<!\w)(?:[a-z]{2}\d\dx{2,4})?[0-9a-f]{28,36}(?:FFFF)?$/, /NRAL(?!\w)/y),
  around("rapidapi", "msh", /(?<!\w)[0-9a-f]{10}$/, /msh[0-9a-f]{15}p1[0-9a-f]{5}jsn[0-9a-f]{12}(?!\w)/y),
  around("terraform", ".atlasv1.", /(?<!\w)[A-Za-z\d]{14}$/, /\.atlasv1\.[\w-]{60,70}(?![\w-])/y),
  around("maxmind", "_mmk", /(?<!\w)[A-Za-z\d]{6}_[A-Za-z\d]{29}$/, /_mmk(?!\w)/y),
  // A word for each digit: "-us" alone stands in each "-use".
  ...Array.from({ length: 10 }, (_, digit) =>
    around("mailchimp", `-us${digit}`, /(?<!\w)[0-9a-f]{32}$/, /-us\d{1,2}(?!\w)/y),
  ),
  around("discord", ".G", /(?<![\w.-])[MNO][A-Za-z\d_-]{23,27}$/, /\.G[\w-]{5}\.[\w-]{27,38}(?![\w-]|\.\w)/y),
];
