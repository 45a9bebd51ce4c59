import { describe, expect, test } from "vitest";
import { findSecrets } from "#common/secrets/find-secrets";
import { maskForOthers } from "#common/secrets/mask";
import { Masker } from "#lib/masking/masker";
import { formed } from "./made-up.ts";

const password = "Tr0ub4dor&3x";
const getSecret = (kind: string) => formed.find(([id]) => id === kind)?.[1] ?? "";
const github = getSecret("github");
const body = "aB3dE5fG7hJ9/L1mN2pQ4rS6tU8vW0xY1zA2pQ4rS6tU8vW0xY1zA2aB3/E5fG7h";
const pem = (begin: string) =>
  [1, 2, 3].reduce((text) => `${text}\n${begin}${body}`, `${begin}-----BEGIN PRIVATE KEY-----`) +
  `\n${begin}-----END PRIVATE KEY-----`;

/** A text as it stands in JSON in a text. */
const json = (text: string) => JSON.stringify(text).slice(1, -1);
const code = (one: string) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`;
/** As Python writes JSON, PHP and Swift, Go, a log of logs of JSON, and HTML. */
const written: [string, (text: string) => string][] = [
  ["python", (text) => json(text).replace(/[\u0080-\uffff]/g, code)],
  ["php", (text) => json(text).replaceAll("/", "\\/")],
  ["go", (text) => json(text).replace(/[<>&]/g, code)],
  ["deep", (text) => json(json(json(text)))],
  [
    "html",
    (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;"),
  ],
];
const texts: [string, string][] = [
  [`DATABASE_URL=postgres://ada:${password.replace("&", "")}@db.internal:5432/app`, password.replace("&", "")],
  [`see ${getSecret("slack-webhook")} there`, getSecret("slack-webhook").slice(-12)],
  [`<password>${password.replace("&", "")}</password>`, password.replace("&", "")],
  [`{"password":"${password.replace("&", "")}"}`, password.replace("&", "")],
  [`cat key.pem\n${pem("")}\ndone`, body.slice(20, 40)],
  [`${pem("     1\u2192")}`, body.slice(20, 40)],
  [`${pem("> ")}`, body.slice(20, 40)],
];

describe.each(written)("as %s writes it, a secret is found that is found in plain:", (_language, write) => {
  test.each(texts)("%s", (text, secret) => {
    expect([maskForOthers(text).includes(secret), write(text).includes(secret)]).toEqual([false, true]);
    const shown = maskForOthers(`before ${write(text)} behind`);
    expect([shown.includes(secret), shown.startsWith("before "), shown.endsWith(" behind")]).toEqual([
      false,
      true,
      true,
    ]);
  });
});

test.each(["\b", "\f", "\n", "\t", "\u0000", "\u001b", "=3D", "%3D"])(
  "behind %j one is masked before it is stored, in a text and in JSON",
  (sign) => {
    const masker = new Masker({ stamp: "", key: Buffer.alloc(32, 1), masks: true, rulings: [] });
    const text = `a${sign}${github} b`;
    expect(masker.text(text)).not.toContain(github);
    expect(masker.wouldMask(JSON.stringify({ output: text }))).toBe(true);
    expect(JSON.stringify(masker.value({ output: text }))).not.toContain(github);
  },
);

test("a password with letters that are blanks byte by byte is masked before it is stored", () => {
  const masker = new Masker({ stamp: "", key: Buffer.alloc(32, 1), masks: true, rulings: [] });
  expect(masker.wouldMask("postgres://ada:d\u00e9j\u00e0vu-7731@db.internal/app")).toBe(true);
});

test("escapes around a secret, and those that say nothing, stay as they are", () => {
  const text = `\\u003ca\\u003e ${github} https:\\/\\/a.example\\/b &amp;&quot;`;
  expect(maskForOthers(text)).toBe(text.replace(github, "[redacted:github]"));
  expect(findSecrets("\\/\\u0026&amp;".repeat(10_000))).toEqual([]);
});

test("backslashes in a row are read once, however many they are", () => {
  const row = "\\".repeat(100_000);
  for (const text of [row, `${row}u`, `${row}\u0000/`]) expect(findSecrets(text)).toEqual([]);
  expect(findSecrets(`${row} ${github}`)).toHaveLength(1);
});
