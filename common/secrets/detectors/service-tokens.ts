import { isCredible, isDense, isKey, isRandom } from "#common/secrets/credible";
import {
  type Detector,
  findAfter,
  findAround,
  findBefore,
  findPasswordAfter,
  isInWord,
} from "#common/secrets/detectors/detector";

const around = (kind: string, word: string, behind: RegExp, ahead: RegExp): Detector =>
  findAround(kind, word, behind, ahead, isRandom);

/**
 * X's bearer tokens of apps begin with 21 or more A. Base64 of zeros has thousands of them, so only the first is
 * examined.
 */
const twitterBearer: Detector = {
  ...findAround("twitter", "A".repeat(20), /(?<![\w/])$/, /A{20,26}[A-Za-z\d%]{60,160}(?![\w%+/=])/y, (value) =>
    isDense(value.replace(/^A+/, "")),
  ),
  mayBe: (text, _, start) => text.charAt(start) === "A" && !isInWord(text, start) && text.charAt(start - 1) !== "/",
};

export const serviceTokens: readonly Detector[] = [
  around("telegram", ":AA", /(?:(?<=\bbot)|(?<!\w))\d{8,10}$/, /:AA[\w-]{32,34}(?![\w-])/y),
  around("azure", "Q~", /(?<![\w~.-])[\w.~-]{3}\d$/, /Q~[\w.~-]{31,34}(?![\w~-])/y),
  around("azure", "JQQJ99", /(?<!\w)[A-Za-z\d]{52,76}$/, /JQQJ99[A-Za-z\d]{4,40}(?!\w)/y),
  around("azure", "AZDO", /(?<!\w)[A-Za-z\d]{76}$/, /AZDO[A-Za-z\d]{4}(?!\w)/y),
  // Azure marks the keys of its services before their last six characters.
  around("azure", "+ASt", /(?<![\w+/])[A-Za-z\d+/]{76}$/, /\+ASt[A-Za-z\d+/]{6}==/y),
  around("azure", "+ABa", /(?<![\w+/])[A-Za-z\d+/]{76}$/, /\+ABa[A-Za-z\d+/]{6}==/y),
  around("azure", "+AMC", /(?<![\w+/])[A-Za-z\d+/]{76}$/, /\+AMC[A-Za-z\d+/]{6}==/y),
  around("azure", "ACDb", /(?<![\w+/])[A-Za-z\d+/]{76}$/, /ACDb[A-Za-z\d+/]{6}==/y),
  around("azure", "APIM", /(?<![\w+/])[A-Za-z\d+/]{76}$/, /APIM[A-Za-z\d+/]{6}==/y),
  around("azure", "AzFu", /(?<![\w-])[\w-]{44}$/, /AzFu[\w-]{6}==/y),
  around("azure", "AzSe", /(?<!\w)[A-Za-z\d]{42}$/, /AzSe[A-Za-z\d]{6}(?!\w)/y),
  around("azure", "AzCa", /(?<!\w)[A-Za-z\d]{33}$/, /AzCa[A-Za-z\d]{6}=/y),
  around("azure", "+ACR", /(?<![\w+/])[A-Za-z\d+/]{42}$/, /\+ACR[A-Za-z\d+/]{6}(?![\w+/])/y),
  around("azure", "+ARm", /(?<![\w+/])[A-Za-z\d+/]{33}$/, /\+ARm[A-Za-z\d+/]{6}=/y),
  around("azure", "+AEh", /(?<![\w+/])[A-Za-z\d+/]{33}$/, /\+AEh[A-Za-z\d+/]{6}=/y),
  around("azure", "+ASb", /(?<![\w+/])[A-Za-z\d+/]{33}$/, /\+ASb[A-Za-z\d+/]{6}=/y),
  around("azure", "AIoT", /(?<![\w+/])[A-Za-z\d+/]{33}$/, /AIoT[A-Za-z\d+/]{6}=/y),
  around("google", ":APA91b", /(?<![\w-])[\w-]{11,22}$/, /:APA91b[\w-]{120,200}(?![\w-])/y),
  around("newrelic", "NRAL", /(?<!\w)(?:[a-z]{2}\d\dx{2,4})?[0-9a-f]{28,36}(?:FFFF)?$/, /NRAL(?!\w)/y),
  around("rapidapi", "msh", /(?<!\w)[0-9a-f]{10}$/, /msh[0-9a-f]{15}p1[0-9a-f]{5}jsn[0-9a-f]{12}(?!\w)/y),
  around("terraform", ".atlasv1.", /(?<!\w)[A-Za-z\d]{14}$/, /\.atlasv1\.[\w-]{60,70}(?![\w-])/y),
  around("maxmind", "_mmk", /(?<!\w)[A-Za-z\d]{6}_[A-Za-z\d]{29}$/, /_mmk(?!\w)/y),
  // A word for each digit, since every "-use" contains "-us".
  ...Array.from({ length: 10 }, (_, digit) =>
    around("mailchimp", `-us${digit}`, /(?<!\w)[0-9a-f]{32}$/, /-us\d{1,2}(?!\w)/y),
  ),
  around("discord", ".G", /(?<![\w.-])[MNO][A-Za-z\d_-]{23,27}$/, /\.G[\w-]{5}\.[\w-]{27,38}(?![\w-]|\.\w)/y),
  findAfter(
    "discord",
    ["login('", 'login("', 'login(\\"'],
    /^([MNO][\w-]{23,27}\.[\w-]{6,7}\.[\w-]{27,38})\\{0,7}["']/,
    isDense,
  ),
  ...["vca_", "vci_", "vcr_"].map((word) =>
    findAround("vercel", word, /(?<!\w)$/, new RegExp(`${word}[A-Za-z\\d]{24,80}(?!\\w)`, "y"), (value) => {
      const rest = value.slice(word.length);
      // A digit is missing in 1.5 % of them.
      return isRandom(rest) && (isDense(rest) || (!/\d/.test(rest) && isCredible(rest)));
    }),
  ),
  twitterBearer,
  findBefore("github", ":x-oauth-basic@", /(?<![\w-])([\w-]{20,255})$/, (value) => isKey(value) && isRandom(value)),
  findAfter("vault", "vault login |vault token ", /^(?:[a-z-]{1,20} ){0,3}["']?([bs]\.[A-Za-z\d]{24})(?!\w)/, isDense),
  findPasswordAfter("mailgun", /^[\s\S]{0,80}?\b([\da-f]{32}-[\da-f]{8}-[\da-f]{8})\b/, () => true),
  {
    ...findAfter("azure", '"value":|"value\\":|"value\\\\\\":', /^\s?\\{0,7}"([A-Za-z\d+/]{86}==)\\{0,7}"/, isDense),
    mayBe: (text, end) => /==\\{0,7}"/.test(text.slice(end + 86, end + 104)),
  },
];
