import { isDense, isRandom } from "#common/secrets/credible";
import type { Detector } from "#common/secrets/detectors/detector";

const maxKeyChars = 16 * 1024;
const beginOfKey = /^(?: |\+|%20)?(?:[A-Z\d]{1,12}(?: |\+|%20)){0,3}PRIVATE(?: |\+|%20)KEY(?:(?: |\+|%20)BLOCK)?-----/;
const endOfKey = /^-{5,6}END[A-Z\d +%]{0,60}-----/;
const lineOfKey = /[A-Za-z\d+/]{40}/;
const linesOfKey = /^(?:\s|\\+(?:[nrt"']|(?=\s))|["'+,|]|[^\0-\x7f]|[A-Za-z0-9+/=.:>#*_-](?!----))*/;

function measureKey(rest: string): number {
  const to = rest.indexOf("-----");
  const [end = ""] = to < 0 ? [] : (endOfKey.exec(rest.slice(to, to + 80)) ?? []);
  const [line = ""] = end === "" ? [] : (lineOfKey.exec(rest.slice(0, to)) ?? []);
  if (line !== "" && isRandom(line)) return to + end.length;
  const [lines = ""] = linesOfKey.exec(rest) ?? [];
  const letters = lines.replaceAll(/\\+[nrt]|[^A-Za-z0-9+/]/g, "");
  return letters.length >= 40 && isRandom(letters.slice(0, 400)) ? lines.length : 0;
}

/** RFC 7468, OpenSSH and PuTTY. */
const keyBlock: Detector = {
  words: ["-----begin", "private-lines:"],
  isLinear: true,
  find(text, start, end) {
    const rest = text.slice(end, end + maxKeyChars);
    if (text.startsWith("-----", start)) {
      const [begin = ""] = beginOfKey.exec(rest) ?? [];
      const length = begin === "" ? 0 : measureKey(rest.slice(begin.length));
      return length > 0 ? { kind: "private-key", start, end: end + begin.length + length } : undefined;
    }
    const [lines = ""] = /^ *\d+\s+(?:[A-Za-z0-9+/=]{16,80}\s*)+/.exec(rest) ?? [];
    return lines === "" ? undefined : { kind: "private-key", start: end, end: end + lines.length };
  },
};

const endOfPrivate = /^(?: [A-Z\d]{1,12}){0,3} PRIVATE KEY(?: BLOCK)?-----/;
const tailLine = /(?:^|[\s"'`→+|>-])([A-Za-z\d+/]{16,80}={0,2})\s{0,8}$/;
const maxLineChars = 120;

function readLineBefore(text: string, at: number): { begin: number; from: number } | undefined {
  const [whole = "", lineEnd = ""] = /(\n|\\{1,3}n)[\s\d→+|>-]{0,16}$/.exec(text.slice(Math.max(0, at - 24), at)) ?? [];
  if (lineEnd === "") return undefined;
  const end = at - whole.length;
  const line = text.slice(Math.max(0, end - maxLineChars), end).replace(/^[\s\S]*(?:\n|\\n)/, "");
  const [, run] = tailLine.exec(line) ?? [];
  return run === undefined ? undefined : { begin: end - line.length, from: end - line.length + line.lastIndexOf(run) };
}

/** The last lines of a key whose beginning is missing, as in a long output. */
const keyTail: Detector = {
  words: ["-----end"],
  mayBe: (text, end) => endOfPrivate.test(text.slice(end, end + 60)),
  find(text, start) {
    let [from, at] = [start, start];
    for (let line = readLineBefore(text, at); line; line = readLineBefore(text, at))
      [from, at] = [line.from, line.begin];
    // The other detector finds whole keys, even examples.
    if (text.slice(Math.max(0, from - maxLineChars), from).includes("-----")) return undefined;
    const letters = text.slice(from, Math.min(start, from + 400)).replaceAll(/\\+[nrt]|[^A-Za-z\d+/]/g, "");
    return letters.length >= 32 && isRandom(letters) ? { kind: "private-key", start: from, end: start } : undefined;
  },
};

const keyType = (type: string) => new RegExp(String.raw`\bkty(?:\\{0,7}")?\s?:\s?\\{0,7}["']${type}`);
/** The key types of private parts (RFC 7518, section 6); all other parts belong to RSA keys. */
const keyTypes: Record<string, RegExp | undefined> = { d: keyType(""), k: keyType("oct\\b") };
const rsaType = keyType("RSA");
const maxPartChars = 1400;

/** A private part of a JSON Web Key. The key's type may come last. */
const webKeyPart: Detector = {
  words: ["d", "k", "p", "q", "dp", "dq", "qi"].flatMap((name) => [
    `"${name}":`,
    `"${name}\\":`,
    `"${name}\\\\\\":`,
    ` ${name}: '`,
  ]),
  mayBe: (text, end) => /^(?:\s?\\{0,7}")?[\w-]{22}/.test(text.slice(end, end + 31)),
  find(text, start, end) {
    const [whole = "", value = ""] =
      /^(?:\s?\\{0,7}")?([\w-]{22,1400})\\{0,7}["']/.exec(text.slice(end, end + maxPartChars + 20)) ?? [];
    if (value === "" || !isDense(value.slice(0, 200))) return undefined;
    const [name = ""] = /[a-z]+/.exec(text.slice(start, end)) ?? [];
    if (!(keyTypes[name] ?? rsaType).test(text.slice(Math.max(0, start - 3000), end + 3000))) return undefined;
    const from = end + whole.indexOf(value);
    return { kind: "private-key", start: from, end: from + value.length };
  },
};

export const privateKeys: readonly Detector[] = [keyBlock, keyTail, webKeyPart];
