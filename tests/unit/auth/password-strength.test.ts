import { describe, expect, test } from "vitest";
import { findWeakness } from "#lib/auth/passwords/password-strength";

const about = ["Ada Lovelace", "ada.lovelace@analytical.example"];

describe("a new password", () => {
  test.each([
    "correct horse battery",
    "a password for tests",
    "not a secret at all",
    "test-password-123",
    "bob's long password",
    "another good password",
    "Tr0ub4dour&3x",
    "vK8#qz!Lm2", // short, and random
    "пароль от старого дома",
    "合言葉は開けゴマです今日も",
  ])("%s is accepted", (password) => {
    expect(findWeakness(password, about)).toBeUndefined();
  });

  test.each([
    "1234567890",
    "123456789012",
    "password1234",
    "Password123!",
    "qwertyuiop123",
    "aaaaaaaaaaaaaaaaaaaa",
    "abcabcabcabcabc",
    "iloveyou1234",
    "2026-11-22",
  ])("%s is refused, whatever its length", (password) => {
    expect(findWeakness(password, about)).toMatch(/^(Too easy to guess\.|Use at least 12 characters)/);
  });

  test.each(["ada.lovelace@analytical.example", "lovelace", "Lovelace12", "Ada Lovelace", "analytical1"])(
    "%s is refused to the person of that name and address",
    (password) => {
      expect(findWeakness(password, about)).toBeDefined();
    },
  );

  test.each(["Spoor12345678", "spoor.internal.example1", "internal2026"])(
    "%s is refused on a server of that name",
    (password) => {
      expect(findWeakness(password, ["spoor.internal.example"])).toBeDefined();
    },
  );

  test.each(["spoorspoor12", "SPOOR.spoor-12", "AdaLovelace.12", "lovelace-spoor-7"])(
    "%s is refused, since words that were documented make no length",
    (password) => {
      expect(findWeakness(password, about)).toBeDefined();
    },
  );

  test("may have such a word beside enough others", () => {
    expect(findWeakness("purple-tea12-ada", about)).toBeUndefined();
  });

  test("of medium strength is refused below 12 characters and accepted from there on", () => {
    expect(findWeakness("purple-tea1", [])).toMatch(/^Use at least 12 characters/);
    expect(findWeakness("purple-tea12", [])).toBeUndefined();
  });

  test("that is made to be slow to judge takes no more than a moment", () => {
    const hostile = ["4@8({[<3€6969&#!1|i0øo9$5z+7%2", "abcdef1987-12-31", "p4ssw0rd", "aA1!", "4@"].map((text) =>
      text.repeat(64).slice(0, 128),
    );
    findWeakness("warm up", about);
    for (const password of hostile) {
      const start = process.cpuUsage();
      findWeakness(password, about);
      const { user, system } = process.cpuUsage(start);
      expect((user + system) / 1000, password).toBeLessThan(300); // ms; without bounds 3,500
    }
  });
});
