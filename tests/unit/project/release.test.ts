import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Call, readCall } from "#server/installed";
import { version } from "../../../package.json" with { type: "json" };
import { findNotes } from "../../../scripts/release/notes.ts";
import { formerVersion } from "../../upgrade/release.ts";

const changelog = readFileSync("CHANGELOG.md", "utf8");

test("a release's notes are its section of the changelog, without the heading", () => {
  const text =
    "# Changelog\n\n## Unreleased\n\n## 1.10.0 - 2026-12-01\n\n### New\n\n- b\n\n## 1.1.0 - 2026-11-01\n\n- a\n";
  expect(findNotes(text, "1.10.0")).toBe("### New\n\n- b\n");
  expect(findNotes(text, "1.1.0")).toBe("- a\n");
  for (const missing of ["1.1", "2.0.0"]) expect(() => findNotes(text, missing)).toThrow(`nothing of ${missing}`);
  expect(() => findNotes("## 1.0.0\n\n## 0.9.0\n\n- a\n", "1.0.0")).toThrow("nothing of 1.0.0");
});

test("the changelog tells what this version brings, in at most 60 lines", () => {
  const lines = findNotes(changelog, version).split("\n");
  expect(lines.length).toBeLessThanOrEqual(60);
});

test("an upgrade begins at the last release, or at the one before where the checkout is the last", () => {
  expect(formerVersion("## Unreleased\n\n- a\n\n## 1.1.0\n\n## 1.0.0\n")).toBe("1.1.0");
  expect(formerVersion("## Unreleased\n\n## 1.1.0 - 2026-11-01\n\n## 1.0.0\n")).toBe("1.0.0");
  expect(formerVersion("## 1.1.0 - 2026-11-01\n\n- a\n\n## 1.0.0\n")).toBe("1.0.0");
  expect(formerVersion("## Unreleased\n\n## 1.0.0\n")).toBeUndefined();
});

const place = { platform: "linux", home: "/home/ada", folder: "/work", variables: {} } as const;
const call = (words: string[], variables: Record<string, string> = {}, more: object = {}): Call =>
  readCall(words, { ...place, variables, ...more }, "1.2.3");

test("without a command everything starts, on data in the home folder, and the folder is told", () => {
  const folder = join("/home/ada", ".local", "share", "spoor-server");
  expect(call([])).toMatchObject({
    ...{ program: "start", words: ["all"], note: `The data is in ${folder}` },
    variables: { DATA_DIR: folder, SPOOR_COMMAND: "spoor-server" },
  });
  expect(call(["web"], { DATABASE_URL: "postgres://x/y" })).toMatchObject({ words: ["web"], note: undefined });
});

test.each([
  [{ XDG_DATA_HOME: "/xdg" }, {}, join("/xdg", "spoor-server")],
  [{ LOCALAPPDATA: "/local" }, { platform: "win32" }, join("/local", "spoor-server")],
  [{}, { platform: "win32" }, join("/home/ada", "AppData", "Local", "spoor-server")],
  [{ DATA_DIR: "own data" }, {}, "/work/own data"],
  [{ DATA_DIR: "/var/lib/spoor" }, {}, "/var/lib/spoor"],
])("with %j and %j the data is in %s", (variables, more, folder) => {
  expect(call([], variables, more)).toMatchObject({ variables: { DATA_DIR: folder } });
});

test("paths are relative to the folder of the call", () => {
  const given = { PRICES_FILE: "prices.json", ENCRYPTION_KEY_FILE: "/etc/key" };
  expect(call(["worker"], given)).toMatchObject({
    variables: { PRICES_FILE: "/work/prices.json", ENCRYPTION_KEY_FILE: "/etc/key" },
  });
  for (const words of [["--programs", "pg17"], ["--programs=pg17"]]) {
    const moved = call(["move", "--upgrade", ...words]);
    expect("words" in moved && moved.words.at(-1)).toMatch(/(^|=)\/work\/pg17$/);
  }
});

test("commands for operators get their words as they are", () => {
  expect(call(["admin", "invite", "ada@example.org"])).toMatchObject({
    ...{ program: "admin", words: ["invite", "ada@example.org"], note: undefined },
  });
  expect(call(["distribute", "--check"])).toMatchObject({ program: "distribute", words: ["--check"] });
});

test("help and version are printed, and a wrong word is one line and exit code 2", () => {
  for (const word of ["help", "--help", "-h"]) {
    expect(call([word])).toMatchObject({ text: expect.stringMatching(/^Usage: spoor-server /), exitCode: 0 });
  }
  expect(call(["worker", "--help"])).toEqual(call(["--help"]));
  expect(call(["--version"])).toEqual({ text: "1.2.3\n", exitCode: 0 });
  for (const words of [["serve"], ["--port", "80"], ["constructor"], ["web", "--port=80"]]) {
    expect(call(words)).toMatchObject({ text: expect.stringMatching(/^[^\n]+--help[^\n]*\n$/), exitCode: 2 });
  }
});
