// Secretlint's recommended rules, as the base beside our own table: what they know and it does not is found, too. A rule of theirs
// is called where one of its words stands, with a short stretch of text from there on, so that its time is bounded by the stretch.
import { isCredible, isDense, isRandom, knownPasswords } from "#lib/secrets/credible";
import { presetRules } from "#lib/secrets/preset";
import type { Place } from "#lib/secrets/shape";

/** What a rule is shown of a text. */
export type Stretch = { row: BaseRow; from: number; to: number };

/** Where a rule is called, and what is made of its reports. */
export type BaseRow = {
  /** Its name in the preset, without `@secretlint/secretlint-rule-`. */
  rule: string;
  kind: string;
  words: readonly string[];
  /** The stretch that the rule is shown where one of the words stands; undefined where no secret can. */
  stretch: (text: string, start: number, end: number) => [from: number, to: number] | undefined;
  /** The file as which it is shown: some rules only look into some. */
  file?: string;
  /** Its first group is the secret, read from the beginning of what the rule reports; without it all of that is. */
  within?: RegExp;
  /** Whether it may be one, by the tests of our own kinds. */
  isOne: (secret: string) => boolean;
};

const tokenCharacters = Uint8Array.from({ length: 128 }, (_, code) =>
  Number(/[\w.+/=-]/.test(String.fromCharCode(code))),
);

/** A token: its beginning, and at least `min` of its characters behind it, of which `max` are shown. */
const token = (rule: string, kind: string, [min, max]: [number, number], ...words: string[]): BaseRow => ({
  rule,
  kind,
  words,
  stretch(text, start, end) {
    let to = end;
    while (to < end + max && tokenCharacters[text.charCodeAt(to)] === 1) to += 1;
    return to - end < min ? undefined : [start, to];
  },
  isOne(secret) {
    const rest = secret.slice(Math.max(...words.map((word) => (secret.startsWith(word) ? word.length : 0))));
    return isRandom(rest) && (isDense(rest) || isCredible(rest));
  },
});

/** `scheme://name:password@host`, of some schemes; the password is the secret. */
const url = (rule: string, schemes: RegExp): BaseRow => ({
  rule,
  kind: "url-password",
  words: ["://"],
  stretch(text, start, end) {
    const [scheme = ""] = schemes.exec(text.slice(Math.max(0, start - 14), start)) ?? [];
    const [rest = ""] = scheme === "" ? [] : (/^[^\s@/]{3,400}@\S{1,264}/.exec(text.slice(end, end + 670)) ?? []);
    return rest === "" ? undefined : [start - scheme.length, end + rest.length];
  },
  within: /^[\w+:]{3,20}:\/\/[^:/\s]{1,256}:([^@/\s]{3,256})@/,
  isOne: (password) => isCredible(password) && !knownPasswords.test(password),
});

/** The rest of a private key in PEM, up to its end. */
const block = /^ ?[A-Z ]{0,24}PRIVATE KEY(?: BLOCK)?-----[A-Za-z\d+/=\s\\]{100,10002}-----END[A-Z ]{0,40}-----/;
const maxBlockChars = 10_200;
const isKeyOfPem = (pem: string): boolean =>
  isRandom(pem.replaceAll(/-----[A-Z ]+-----|\\+[nrt]|[^A-Za-z\d+/]/g, "").slice(0, 400));

/** Every rule of the preset, by its words. */
export const baseRows: readonly BaseRow[] = [
  {
    rule: "aws",
    kind: "aws-secret",
    words: ["access_key", "accesskey"],
    stretch: (text, start, end) =>
      /secret_?$/i.test(text.slice(Math.max(0, start - 7), start)) ? [Math.max(0, start - 7), end + 80] : undefined,
    within: /^["']?\w{0,4}?secret_?access_?key["']?\s*(?::|=>|=)\s*["']?([A-Za-z\d/+=]{40})/i,
    isOne: (secret) => isDense(secret) && isRandom(secret),
  },
  {
    rule: "gcp",
    kind: "private-key",
    words: ["private_key_id"],
    stretch(text, start, end) {
      const from = text.slice(Math.max(0, start - 2000), start).lastIndexOf("{");
      const to = text.slice(end, end + 6000).indexOf("}");
      return from < 0 || to < 0 ? undefined : [Math.max(0, start - 2000) + from, end + to + 1];
    },
    file: "key.json",
    within: /(-----BEGIN[^"]+?)(?:\\n)?"/,
    isOne: isKeyOfPem,
  },
  {
    rule: "privatekey",
    kind: "private-key",
    words: ["-----begin"],
    stretch(text, start, end) {
      const [rest = ""] = block.exec(text.slice(end, end + maxBlockChars)) ?? [];
      return rest === "" ? undefined : [start, end + rest.length];
    },
    isOne: isKeyOfPem,
  },
  token("npm", "npm", [36, 64], "npm_"),
  {
    rule: "npm",
    kind: "npm",
    words: ["_authToken="],
    stretch: (_text, start, end) => [start, end + 400],
    file: ".npmrc",
    within: /^_authToken=([\w.+/=-]{20,400})/,
    isOne: isCredible,
  },
  {
    rule: "npm",
    kind: "github",
    words: [":x-oauth-basic@github.com/"],
    stretch: (_text, start, end) => [Math.max(0, start - 264), end],
    file: "package.json",
    within: /([\w-]{20,255}):x-oauth-basic@/,
    isOne: (secret) => (isDense(secret) || /^[\da-f]{40}$/.test(secret)) && isRandom(secret),
  },
  url("basicauth", /(?:https?|ftps?)$/),
  url("database-connection-string", /(?:mongodb(?:\+srv)?|(?:jdbc:)?mysqlx?|postgres(?:ql)?)$/i),
  token("slack", "slack", [20, 600], "xoxb-", "xoxp-", "xapp-", "xoxa-", "xoxo-", "xoxr-"),
  {
    ...token("slack", "slack-webhook", [30, 130], "hooks.slack.com/services/T"),
    stretch(text, start, end) {
      const [rest = ""] = /^[\w/]{30,130}/.exec(text.slice(end, end + 130)) ?? [];
      return rest === "" ? undefined : [Math.max(0, start - 8), end + rest.length];
    },
    isOne: (secret) => isRandom(secret.slice(secret.lastIndexOf("/") + 1)),
  },
  token("sendgrid", "sendgrid", [66, 70], "SG."),
  token("shopify", "shopify", [32, 70], "shppa_", "shpca_", "shpat_", "shpss_"),
  token("stripe", "stripe", [24, 110], "sk_live_", "sk_test_", "rk_live_", "rk_test_"),
  token("github", "github", [36, 1000], "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
  token("gitlab", "gitlab", [20, 140], "glpat-"),
  token("grafana", "grafana", [32, 410], "glc_", "glsa_"),
  token("openai", "openai", [48, 200], "sk-", "sk-proj-", "sk-svcacct-", "sk-admin-"),
  token("anthropic", "anthropic", [98, 150], "sk-ant-"),
  token("groq", "groq", [52, 60], "gsk_"),
  token("huggingface", "huggingface", [34, 40], "hf_"),
  token("linear", "linear", [32, 140], "lin_api_"),
  token("notion", "notion", [46, 60], "ntn_"),
  token("1password", "1password", [100, 1300], "ops_ey"),
  token("hashicorp-vault", "vault", [90, 310], "hvs.", "hvb.", "hvr."),
  token("vercel", "vercel", [20, 70], "vcp_", "vci_", "vca_", "vcr_", "vck_"),
  token("databricks", "databricks", [32, 40], "dapi"),
  token("docker", "docker", [27, 40], "dckr_pat_"),
  token("figma", "figma", [40, 210], "figd_"),
  token("cloudflare", "cloudflare", [48, 60], "cfk_", "cfut_", "cfat_"),
  token("tailscale", "tailscale", [28, 130], "tskey-"),
];

/** Rules that are never called: comments such as `secretlint-disable`, as sessions may have them, hide no secret here. */
export const leftOut: readonly string[] = ["filter-comments"];

type Rule = ReturnType<typeof presetRules>[number];
type Handler = ReturnType<Rule["create"]>;
type Source = Parameters<NonNullable<Handler["file"]>>[0];

/** @returns the name of a rule, as rows have it */
export const nameOf = ({ meta }: Rule): string => meta.id.replace(/^.*-rule-/, "");

/** What the rule that is being called has reported. */
let reported: (readonly [start: number, end: number])[] = [];
let handlers: Map<string, Handler> | undefined;

/** The rules, made ready where one is needed first; without options, so that what a rule only does when it is told to stays off. */
function makeHandlers(): Map<string, Handler> {
  const context: Parameters<Rule["create"]>[0] = {
    sharedOptions: {},
    createTranslator: () => (messageId) => ({ message: "", messageId: String(messageId), data: undefined }),
    report: ({ range }) => reported.push(range),
    ignore() {},
  };
  return new Map(presetRules().map((rule) => [nameOf(rule), rule.create(context, {})]));
}

/** Where the first group of a pattern stands behind a place. */
function placeOf(pattern: RegExp, text: string, from: number): readonly [start: number, end: number] | undefined {
  const found = pattern.exec(text.slice(from));
  const [whole = "", value = ""] = found ?? [];
  if (!found || value === "") return undefined;
  const start = from + found.index + whole.lastIndexOf(value);
  return [start, start + value.length];
}

/** What rules of the preset find in stretches of a text, and our own tests take for a secret. */
export function findByBase(text: string, stretches: readonly Stretch[]): Place[] {
  handlers ??= makeHandlers();
  const places: Place[] = [];
  for (const { row, from, to } of stretches) {
    const content = text.slice(from, to);
    const file = row.file ?? "session.txt";
    const source = { content, filePath: file, ext: file.slice(file.lastIndexOf(".")), contentType: "text" };
    reported = [];
    handlers.get(row.rule)?.file?.(source as Source);
    for (const [start, end] of reported) {
      const place = row.within ? placeOf(row.within, content, start) : ([start, end] as const);
      if (!place || !row.isOne(content.slice(...place))) continue;
      places.push({ kind: row.kind, start: from + place[0], end: from + place[1] });
    }
  }
  return places;
}
