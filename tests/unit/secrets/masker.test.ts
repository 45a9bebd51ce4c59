import { expect, test } from "vitest";
import { Masker, type MaskingPolicy, type Ruling } from "#lib/masking/masker";

const key = new Uint8Array(32).fill(7);
const makePolicy = (rulings: Ruling[] = []): MaskingPolicy => ({ stamp: "1", key, masks: true, rulings });
const trace = { source: "a", sourceId: "b" };
const url = (password: string) => `mysql://root:${password}@db/x`;

test("what stands for one secret is not looked through for the next one: a text of a few bytes stays one", () => {
  const values = ["q7xKz2w9"];
  const masker = new Masker(makePolicy(), trace);
  for (let n = 0; n < 20; n += 1) {
    const [, inside = ""] = /\[redacted:([a-z-]+:[0-9a-f]{8})\]/.exec(masker.text(url(values.at(-1) ?? ""))) ?? [];
    values.push(inside);
  }
  expect(new Set(values).size).toBe(21);
  expect(masker.withoutEchoes(`x ${values[0]} y`)).toBe(`x [redacted:${values[1]}] y`);
  const shown = masker.text(url("q7xKz2w9"));
  expect(masker.withoutEchoes(shown)).toBe(shown);
});

test("of values of which one begins with another the longer one is masked, whatever signs they have", () => {
  const masker = new Masker(makePolicy(), trace);
  for (const password of ["q7xKz2w9", "q7xKz2w9$.*+^"]) masker.text(url(password));
  expect(masker.withoutEchoes("(q7xKz2w9$.*+^)")).toMatch(/^\(\[redacted:url-password:[0-9a-f]{8}\]\)$/);
});

test("decisions are gone through once for all traces of a batch", () => {
  let reads = 0;
  const rulings: Ruling[] = Array.from({ length: 100 }, (_, n) => ({ kind: "jwt", mark: `${n}`, verdict: "keep" }));
  const get = () => {
    reads += 1;
    return rulings;
  };
  const policy = Object.defineProperty(makePolicy(), "rulings", { get });
  for (let n = 0; n < 100; n += 1) new Masker(policy, { source: "a", sourceId: `${n}` });
  expect(reads).toBeLessThan(3);
});

test("what was decided in one trace comes before what was decided everywhere, and counts there alone", () => {
  const kind = "url-password";
  const mark = new Masker(makePolicy()).mark("q7xKz2w9");
  const policy = makePolicy([
    { kind, mark, verdict: "mask", ...trace },
    { kind, mark, verdict: "keep" },
  ]);
  expect(new Masker(policy, trace).text(url("q7xKz2w9"))).toBe(url(`[redacted:${kind}:${mark}]`));
  expect(new Masker(policy, { ...trace, sourceId: "c" }).text(url("q7xKz2w9"))).toBe(url("q7xKz2w9"));
  expect(new Masker(policy).text(url("q7xKz2w9"))).toBe(url("q7xKz2w9"));
});
