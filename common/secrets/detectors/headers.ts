import { isCredible, isDense, isKey, isPair, isPassword, readAppPassword } from "#common/secrets/credible";
import { type Detector, findAfter, isInWord, readBefore } from "#common/secrets/detectors/detector";

const basicCredentials = /^[A-Za-z0-9+/]{12,2000}={0,2}(?![A-Za-z0-9+/=])/;

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
    const scheme = text.slice(start, end).toLowerCase();
    if (scheme === "basic ") {
      const [encoded = ""] = basicCredentials.exec(rest) ?? [];
      if (encoded === "" || !isPair(encoded)) return undefined;
      return { kind: "authorization", start: end, end: end + encoded.length };
    }
    const isCommonWord =
      scheme !== "bearer " &&
      !/authorization\\{0,7}["']?\s{0,4}[:=]\s{0,4}\\{0,7}["']?$/i.test(readBefore(text, start, 40));
    const [value = ""] = /^(?:[A-Za-z0-9._~+/|-]|:(?!\/\/)){16,4096}={0,2}/.exec(rest) ?? [];
    // Laravel and JetBrains join the parts of a token by `|` and `:`.
    if (isCommonWord || !/\d/.test(value) || !isCredible(value.slice(0, 200).replace(/[|:]/g, ""))) return undefined;
    return { kind: "authorization", start: end, end: end + value.length };
  },
};

const sessionName = String.raw`[\w.-]{0,40}(?:sess|sid|auth|token|jwt|login)[\w.-]{0,20}`;
const endsSessionName = /(?:sess|sid|auth|token|jwt|login)[\w.-]{0,20}$/i;
const isSession = (value: string): boolean =>
  isDense(value.slice(0, 200)) || /^(?=\D{0,40}\d)(?:[\da-f]{26,}|[a-z\d]{24,}|[A-Z\d]{24,})$/.test(value);
const [maxHeaderChars, maxNameChars] = [600, 70];
const nameCharacter = /[\w.-]/;
const headerValue = /[\w%.~+/=-]{20,4000}/y;

/** Finds the value of the first sign-in cookie of a header. Each name is read once, backwards. */
function findInHeader(header: string): [from: number, to: number] | undefined {
  const end = header.search(/["'\n]/);
  const last = Math.min(end === -1 ? Number.POSITIVE_INFINITY : end, maxHeaderChars + maxNameChars);
  for (let at = header.indexOf("="); at !== -1 && at < last; at = header.indexOf("=", at + 1)) {
    let from = at;
    while (from > 0 && at - from < maxNameChars && nameCharacter.test(header.charAt(from - 1))) from -= 1;
    if (!endsSessionName.test(header.slice(from, at))) continue;
    headerValue.lastIndex = at + 1;
    const [value] = headerValue.exec(header) ?? [];
    if (value) return [at + 1, at + 1 + value.length];
  }
  return undefined;
}

const cookieLine = new RegExp(
  String.raw`^(?:[^\t\n]{1,80}\t(?:TRUE|FALSE)\t)?\d{1,12}\t${sessionName}\t(\S{20,4000})`,
  "i",
);

function findInFile(rest: string): [from: number, to: number] | undefined {
  const [whole = "", value = ""] = cookieLine.exec(rest) ?? [];
  return value === "" ? undefined : [whole.length - value.length, whole.length];
}

const cookie: Detector = {
  words: ["cookie: ", "cookie '", 'cookie "', "-b '", '-b "', "\ttrue\t"],
  find(text, start, end) {
    const rest = text.slice(end, end + 4700);
    const [from, to] = (text.charAt(start) === "\t" ? findInFile(rest) : findInHeader(rest)) ?? [0, 0];
    if (to === 0 || !isSession(rest.slice(from, to))) return undefined;
    return { kind: "cookie", start: end + from, end: end + to };
  },
};

export const headers: readonly Detector[] = [
  authorization,
  cookie,
  // Docker's settings and npm's, in Base64.
  findAfter(
    "authorization",
    'auth"|auth\\"|auth\\\\\\"|_auth=|_auth =',
    /^\s{0,4}:?\s{0,4}\\{0,7}"?([A-Za-z0-9+/]{12,400}={0,2})(?![\w+/=])/,
    isPair,
    { chars: 420 },
  ),
  findAfter("authorization", '"encoded":|"encoded\\":', /^\s?\\{0,7}"([A-Za-z\d+/]{40,120}={0,2})\\{0,7}"/, isPair),
  findAfter("npm", "_authtoken=", /^["']?([\w.+/=-]{20,400})/, isCredible),
  findAfter(
    "authorization",
    "wandb login |shodan init |authtoken |auth login ",
    /^["']?([\w-]{32,64})(?![\w-])/,
    isKey,
  ),
  findAfter(
    "authorization",
    ["login('", 'login("', 'login(\\"', "auth=(", "auth = (", "basicauth("],
    /^\\{0,7}["']?[^"'\n]{1,80}\\{0,7}["'],\s?\\{0,7}["']([^"'\n\\]{6,128})\\{0,7}["']/,
    (value) => isPassword(value) || readAppPassword(value) === value,
  ),
  findAfter(
    "authorization",
    ["authorization: ", 'authorization": ', 'authorization\\": ', "authorization', "],
    /^\\{0,7}["']?(?!bearer|basic|token)[a-z][\w-]{1,20} ([\w.~+/=-]{16,4096})/i,
    (value) => /\d/.test(value) && isCredible(value.slice(0, 200)),
  ),
];
