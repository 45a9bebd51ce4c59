import { describe, expect, test } from "vitest";
import { findSecrets } from "#common/secrets/find-secrets";
import { changeTexts, maskForOthers, maskValueForOthers } from "#common/secrets/mask";
import { forOthers, textForOthers } from "#lib/masking/for-others";
import { makeMask } from "#lib/masking/mask-pieces";
import { Masker } from "#lib/masking/masker";
import { Masker as ClientMasker } from "../../../cli/redact/masker.ts";
import { formed, surrounded } from "./made-up.ts";
import { planted } from "./planted.ts";

/** Every kind of secret in the name of a field: the whole name, and what of it must not be there afterwards. */
const names: [name: string, secret: string, isCertain: boolean][] = [
  ...formed.map(([, secret]) => [secret, secret] as const),
  ...surrounded.map(([, before, secret, after]) => [before + secret + after, secret] as const),
  ...planted
    .filter(({ text, secret }) => !maskForOthers(text).includes(secret))
    .map((one) => [one.text, one.secret] as const),
].map(([name, secret]) => [name, secret, findSecrets(name).every(({ certain }) => certain)]);

type Json = Record<string, unknown>;

/** A value in which the name stands at a depth, in objects and lists. */
const at = (depth: number, name: string): Json =>
  depth === 0
    ? { type: "update", [name]: { type: "update", unified_diff: "@@ -1 +1 @@" }, last: 1 }
    : { changes: depth % 2 === 0 ? at(depth - 1, name) : [0, at(depth - 1, name)] };
const depths = [0, 1, 5, 25];

const namesIn = (value: unknown): string[] =>
  typeof value !== "object" || value === null
    ? []
    : Object.entries(value).flatMap(([name, inner]) => [Array.isArray(value) ? "" : name, ...namesIn(inner)]);

function expectHidden(mask: (value: Json) => Json, all = names) {
  for (const [index, [name, secret]] of all.entries()) {
    const depth = depths[index % depths.length] as number;
    const hidden = namesIn(mask(at(depth, name)));
    expect([hidden.some((one) => one.includes(secret)), hidden.length], name).toEqual([
      false,
      namesIn(at(depth, name)).length,
    ]);
  }
}

const key = Buffer.alloc(32, 1);
const certain = names.filter(([, , isCertain]) => isCertain);

describe("a secret that is the name of a field, at any depth,", () => {
  test("is in no link, and in no export for others", () => {
    for (const masked of ["secrets", "all"] as const) {
      const mask = makeMask(masked, { machine: "web-1", owners: [] });
      expectHidden((metadata) => forOthers({ content: "", metadata }, mask).metadata as typeof metadata);
    }
  });

  test("is masked by the client before it sends", () => {
    expectHidden((metadata) => new ClientMasker(key).message({ content: "", metadata }).metadata ?? {}, certain);
  });

  test("is masked by the server before it stores", () => {
    const policy = { stamp: "", key, masks: true, rulings: [] };
    expectHidden((metadata) => new Masker(policy).value(metadata), certain);
    for (const [name] of certain) expect(new Masker(policy).wouldMask(JSON.stringify(at(1, name))), name).toBe(true);
  });
});

test("a home folder is in no name of a field for others", () => {
  const metadata = { changes: { "/home/ada/api/a.ts": { add: 1 }, "C:\\Users\\ada\\b.ts": { add: 2 } } };
  expect(forOthers({ content: "", metadata }).metadata).toEqual({
    changes: { "~/api/a.ts": { add: 1 }, "~\\b.ts": { add: 2 } },
  });
});

describe("names that become equal", () => {
  test("have a number behind them, and no value is lost", () => {
    const value = { "/home/ada/a": 1, "~/a": 2, "~/a (2)": 3, "/home/eve/a": 4 };
    expect(maskValueForOthers(value, textForOthers)).toEqual({
      "~/a": 1,
      "~/a (2)": 2,
      "~/a (2) (2)": 3,
      "~/a (3)": 4,
    });
  });

  test("take no longer the more there are of them", () => {
    const value = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`n${index}`, index]));
    expect(Object.keys(changeTexts(value, () => "n"))).toHaveLength(20_000);
  });

  test("may be any names", () => {
    const value = JSON.parse('{"__proto__":{"a":"x"},"constructor":"x"}');
    expect(JSON.stringify(changeTexts(value, (text) => (text === "x" ? "y" : text)))).toBe(
      '{"__proto__":{"a":"y"},"constructor":"y"}',
    );
    expect(JSON.stringify(changeTexts({ x: 1, b: 2 }, (text) => (text === "x" ? "__proto__" : text)))).toBe(
      '{"__proto__":1,"b":2}',
    );
  });
});

describe("what only stands beside a text tells that it is a secret:", () => {
  const secret = "Tr0ub4dor&3x";
  test.each([
    ["the name of its field", { input: { password: secret } }],
    ["that of a field around it", { password: { value: secret } }],
    ["another field", { env: [{ name: "DB_PASSWORD", value: secret }] }],
    ["a field after it", { env: [{ value: secret, name: "DB_PASSWORD" }] }],
    ["a field with others between", { Value: secret, Type: "SecureString", Version: 3, Name: "/prod/db/password" }],
    [
      "a field of a list in which there are others",
      {
        env: [
          { name: "A", value: "b" },
          { value: secret, name: "DB_PASSWORD" },
        ],
      },
    ],
    ["the argument before it", { argv: ["login", "--password", secret] }],
    ["and it has quotes in it", { password: `${secret}"'\\` }],
  ])("%s", (_what, metadata) => {
    const { metadata: shown } = forOthers({ content: "", metadata: metadata as Record<string, unknown> });
    expect(JSON.stringify(shown)).not.toContain("ub4dor");
    expect(JSON.stringify(shown)).toContain("[redacted:assignment]");
  });

  test("the client masks what is certain by it", () => {
    const token = "a9B8c7D6e5F4g3H2i1J0k9L8m7N6o5P4";
    const masker = new ClientMasker(key);
    for (const metadata of [{ env: { SESSION_SECRET: token } }, { env: [{ name: "SESSION_SECRET", value: token }] }])
      expect(JSON.stringify(masker.message({ content: "", metadata }))).not.toContain(token);
    expect(masker.counts).toEqual({ environment: 1 });
    expect(new ClientMasker().message({ content: "", metadata: { SESSION_SECRET: token } }).metadata).toEqual({
      SESSION_SECRET: token,
    });
  });
});
