import { describe, expect, test } from "vitest";
import { isTokenText } from "#lib/auth/tokens";
import { normalizeUserCode } from "#lib/device/login";
import { startRequest } from "#lib/device/schema";

describe("a user code", () => {
  test.each(["WDJB-MJHT", "wdjbmjht", " wdjb mjht ", "WD-JB-MJ-HT", "WDJB–MJHT"])("%j is read as WDJBMJHT", (typed) => {
    expect(normalizeUserCode(typed)).toBe("WDJBMJHT");
  });

  test.each(["", "WDJB-MJH", "WDJB-MJHTX", "ADJB-MJHT", "WDJB_MJHT", "<script>"])("%j is none", (typed) => {
    expect(normalizeUserCode(typed)).toBeUndefined();
  });
});

describe("a machine's name", () => {
  const name = (machine: unknown) => startRequest.safeParse({ machine }).data?.machine;

  test("loses its edges, control characters and bidirectional marks", () => {
    expect(name("  ada\u202e-lap\0top\n ")).toBe("ada-laptop");
  });

  test("keeps markup and other scripts as the text they are", () => {
    expect(name("<b>アダ</b>")).toBe("<b>アダ</b>");
  });

  test.each([[" "], ["\0"], ["x".repeat(257)], [7], [undefined]])("%j is refused", (machine) => {
    expect(startRequest.safeParse({ machine }).success).toBe(false);
  });

  test("may have 256 characters after trimming", () => {
    expect(name(` ${"x".repeat(256)} `)).toHaveLength(256);
  });
});

test("a token's text is known by its checksum", () => {
  // The CRC-32 bit by bit, apart from the code under test.
  const random = "000000000000000000000000000000";
  const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  let crc = 0xffffffff;
  for (const byte of Buffer.from(random)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  let rest = (crc ^ 0xffffffff) >>> 0;
  let check = "";
  for (let place = 0; place < 6; place += 1) {
    check = digits[rest % 62] + check;
    rest = Math.floor(rest / 62);
  }
  expect(isTokenText(`spoor_${random}${check}`)).toBe(true);
  expect(isTokenText(`spoor_1${random.slice(1)}${check}`)).toBe(false);
  expect(isTokenText(`spoor_${random}${check} `)).toBe(false);
  expect(isTokenText(`Spoor_${random}${check}`)).toBe(false);
});
