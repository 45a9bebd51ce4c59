import { randomBytes } from "node:crypto";
import { afterEach, expect, test } from "vitest";
import { setEnv } from "#lib/core/env";
import { BrokenSealError, isOutdated, seal, unseal, unsealParts } from "#lib/storage/sealed";

const [one, other] = [randomBytes(32).toString("base64"), randomBytes(32).toString("base64")];
const use = (...keys: string[]) => setEnv({ ENCRYPTION_KEY: keys.join(",") || undefined });
afterEach(() => use());

const body = (bytes: number) => new Uint8Array(randomBytes(bytes));

test.each([0, 1, 1 << 20, (1 << 20) + 1, 3_000_000])(
  "a body of %d bytes is opened as it was sealed, at once and in parts",
  async (bytes) => {
    use(one);
    const plain = body(bytes);
    const sealed = seal(plain);
    expect(Buffer.from(unseal(sealed)).equals(plain)).toBe(true);
    if (bytes > 16) expect(Buffer.from(sealed).includes(Buffer.from(plain.subarray(0, 16)))).toBe(false);
    const parts: Uint8Array[] = [];
    const slices = async function* () {
      for (let at = 0; at < sealed.length; at += 700_000) yield sealed.subarray(at, at + 700_000);
    };
    for await (const part of unsealParts(slices())) parts.push(part);
    expect(Buffer.concat(parts).equals(plain)).toBe(true);
  },
);

test("without a key a body stays as it is; one of an older key is read while that key is there", () => {
  const plain = body(100);
  expect(seal(plain)).toBe(plain);
  use(one);
  expect(unseal(plain)).toBe(plain);
  const sealed = seal(plain);
  expect([isOutdated(plain), isOutdated(sealed)]).toEqual([true, false]);
  use(other, one);
  expect([isOutdated(sealed), Buffer.from(unseal(sealed)).equals(plain)]).toEqual([true, true]);
  use(other);
  expect(() => unseal(sealed)).toThrow("which is not in ENCRYPTION_KEY");
});

test("one that was changed, cut off or put together otherwise is not opened", () => {
  use(one);
  const sealed = seal(body(2_500_000));
  const changed = new Uint8Array(sealed);
  changed[5000] = (changed[5000] ?? 0) ^ 1;
  expect(() => unseal(changed)).toThrow(BrokenSealError);
  expect(() => unseal(sealed.slice(0, 16 + (1 << 20) + 16))).toThrow(BrokenSealError);
  const head = sealed.slice(0, 16);
  const [first, second] = [
    sealed.slice(16, 16 + (1 << 20) + 16),
    sealed.slice(16 + (1 << 20) + 16, 16 + 2 * ((1 << 20) + 16)),
  ];
  const swapped = new Uint8Array(Buffer.concat([head, second, first, sealed.slice(16 + 2 * ((1 << 20) + 16))]));
  expect(() => unseal(swapped)).toThrow(BrokenSealError);
});
