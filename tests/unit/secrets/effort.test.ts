import { describe, expect, test } from "vitest";
import { findSecrets } from "#common/secrets/find-secrets";
import { maskForOthers } from "#common/secrets/mask";
import { maskPieces } from "#lib/masking/mask-pieces";
import { run } from "./fill-form.ts";
import { formed } from "./made-up.ts";

const password = "Tr0ub4dor&3x";
const tail = `\nDB_PASSWORD=${password}\n`;
const github = formed.find(([kind]) => kind === "github")?.[1] ?? "";
const lines = (count: number, line: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => line(index)).join("\n");
const unreadIn = (text: string) => findSecrets(text).filter(({ kind }) => kind === "unread");

describe("files that are full of names of secrets are read to their end:", () => {
  const values = Array.from({ length: 3200 }, () => `kX4${run("alnum:12")}7q`);
  test.each([
    ["an environment", lines(3200, (n) => `SERVICE_${n}_PASSWORD=${values[n]}`)],
    ["short settings", lines(3200, (n) => `pw=${values[n]}`)],
    [
      "variables whose values come first",
      lines(3200, (n) => `{"value":"${values[n]}","name":"SERVICE_${n}_PASSWORD"},`),
    ],
    ["JSON without values", `[${lines(3200, () => '"token": null,')}`],
    ["JSON with short values", lines(3200, (n) => `{"key":"k${n % 100}","secret":"s","password":""},`)],
    ["steps of a CI", lines(3200, (n) => `  TOKEN_${n}: \${{ secrets.DEPLOY_TOKEN }}`)],
    ["references", lines(3200, (n) => `API_KEY_${n}=$(get TOKEN_${n})`)],
    ["certificates", lines(200, () => `-----BEGIN CERTIFICATE-----\n${run("base64:1600")}\n-----END CERTIFICATE-----`)],
    ["prose", lines(3200, () => "the token of the user, a secret, is a password or a key")],
    ["URLs", lines(3200, (n) => `see https://ada.example/${n}/token?key=a`)],
  ])("%s", (_what, text) => {
    const shown = maskForOthers(`${text}${tail}`);
    expect([unreadIn(text).length, shown.includes(password), shown.includes("DB_PASSWORD=[redacted:")]).toEqual([
      0,
      false,
      true,
    ]);
    expect(shown).not.toMatch(/[="]kX4[A-Za-z\d]{12}7q/); // as the values are
  });
});

describe("a text that is made to take long", () => {
  const hostile = [
    "key_",
    "secret",
    "tr_pat_",
    "private_key_id",
    "\n| key |\n|---|\n| a |\n",
    "password= a1",
    "EAAA-",
    "_authToken=aB3dE5fG.",
  ];
  test.each(hostile)("has no part that is neither read nor masked: %s", (word) => {
    const dense = word.repeat(60_000 / word.length);
    for (const secret of [
      `\nDB_PASSWORD=${password}`,
      ` ${github}`,
      `${word}\n${github}\n`,
      ` password: "${password}" `,
    ]) {
      const text = `${dense}${secret}\n${dense}${secret}`;
      const shown = maskForOthers(text);
      expect([shown.includes(password), shown.includes(github)], secret).toEqual([false, false]);
    }
  });

  test("has its unread lines hidden, and all others read", () => {
    const text = `${"secret_".repeat(30_000)}\nnext line\n${"plain words ".repeat(20_000)}\nDB_PASSWORD=${password}\nend`;
    expect(unreadIn(text)).toHaveLength(1);
    const shown = maskForOthers(text);
    expect(shown).toContain("[redacted:unread]\nnext line\n");
    expect(shown.endsWith("\nDB_PASSWORD=[redacted:assignment]\nend")).toBe(true);
  });

  test("hides what stands before the word, and keys over several lines", () => {
    const pem = `-----BEGIN PRIVATE KEY-----\n${Array.from({ length: 6 }, () => run("base64:64")).join("\n")}\n-----END PRIVATE KEY-----`;
    const before = `echo ${password} | sudo -S ls`;
    const text = lines(3000, () => `${"secret_".repeat(20)} ${before}\n${pem.slice(0, 0)}`);
    expect(unreadIn(text).length).toBeGreaterThan(0);
    expect(maskForOthers(text)).not.toContain(password);
    expect(maskForOthers(`${"secret_".repeat(30_000)}${pem}\n`)).not.toContain(pem.split("\n")[2]);
  });

  test("is masked in pieces, too", async () => {
    const text = `${"secret_".repeat(60_000)}\nDB_PASSWORD=${password}\n`;
    async function* pieces() {
      for (let at = 0; at < text.length; at += 100_000) yield text.slice(at, at + 100_000);
    }
    let shown = "";
    for await (const part of maskPieces(pieces(), (one) => one)) shown += part;
    expect([shown.includes(password), shown.includes("[redacted:unread]")]).toEqual([false, true]);
  });
});

test.each([
  ["zeros in Base64", Buffer.alloc(300_000).toString("base64")],
  ["one letter", "a".repeat(300_000)],
  ["a rule", "-=".repeat(150_000)],
])("what has no secret stays as it is, however long its line is: %s", (_what, text) => {
  expect(maskForOthers(text) === text).toBe(true);
});

test("a text that was searched before takes no longer", () => {
  const makeText = () => Buffer.from("ATATT3a1b2c3 ghp_aB3 ".repeat(50_000)).toString("latin1");
  findSecrets(makeText());
  const from = process.threadCpuUsage();
  findSecrets(makeText());
  const { user, system } = process.threadCpuUsage(from);
  expect(user + system).toBeLessThan(2e6);
});

test("a table of passwords is read to its last row", () => {
  const rows = Array.from({ length: 500 }, (_, index) => `| user${index} | kX${index}vb9!qLz |`);
  const shown = maskForOthers(`| user | password |\n|---|---|\n${rows.join("\n")}\n`);
  expect(shown).not.toMatch(/vb9!qLz/);
});
