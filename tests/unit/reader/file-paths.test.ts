import { structuredPatch } from "diff";
import { describe, expect, test } from "vitest";
import { countChange } from "#lib/transcript/files/line-diff";
import { countPatch } from "#lib/transcript/files/patches";
import { projectPath, readPlace } from "#lib/transcript/files/paths";

type Fields = Record<string, unknown>;

describe("a path below the project's root", () => {
  const ada = { cwd: "/home/ada/api" };
  const windows = { cwd: "C:\\Users\\Ada\\api" };

  test.each<[string, Fields | null, string, string | undefined]>([
    ["/home/ada/api/src/x.ts", ada, "", "src/x.ts"],
    ["./src//./x.ts", ada, "", "src/x.ts"],
    ["src/../x.ts", ada, "", "x.ts"],
    ["../web/x.ts", ada, "", "/home/ada/web/x.ts"],
    ["/home/ada/apis/x.ts", ada, "", "/home/ada/apis/x.ts"],
    ["/etc/hosts", ada, "", "/etc/hosts"],
    ["~/api/x.ts", ada, "", "x.ts"],
    ["~/.bashrc", ada, "", "/home/ada/.bashrc"],
    ["~/x.ts", null, "", "~/x.ts"],
    ["x.ts", ada, "/home/ada/api/web", "web/x.ts"],
    ["x.ts", ada, "/tmp/y", "/tmp/y/x.ts"],
    ["/home/ada/x.ts", null, "", "/home/ada/x.ts"],
    ["./src/x.ts", null, "", "src/x.ts"],
    ["../x.ts", null, "", "../x.ts"],
    ["/home/ada/api/.claude/worktrees/fix/src/x.ts", ada, "", "src/x.ts"],
    ["/home/ada/api/src/x.ts", { cwd: "/home/ada/api/.claude/worktrees/fix/src" }, "", "src/x.ts"],
    ["x.ts", { cwd: "/home/ada/api/.claude/worktrees/fix/src" }, "", "src/x.ts"],
    ["/home/ada/api/x.ts", { cwd: "/home/ada/api/web", repository: "https://example.org/ada/api.git" }, "", "x.ts"],
    ["/home/ada/api/x.ts", { cwd: "/home/ada/api/web", repository: "git@example.org:ada/API" }, "", "x.ts"],
    [
      "/home/ada/api/x.ts",
      { cwd: "/home/ada/api/web", repository: "https://example.org/ada/shop" },
      "",
      "/home/ada/api/x.ts",
    ],
    ["/srv/api/x.ts", { cwd: "/srv/api/services/api", repository: "https://e.org/a/api" }, "", "/srv/api/x.ts"],
    ["c:\\users\\ada\\API\\Src\\X.ts", windows, "", "Src/X.ts"],
    ["src\\x.ts", windows, "", "src/x.ts"],
    ["/c/Users/Ada/api/x.ts", windows, "", "x.ts"],
    ["D:\\x.ts", windows, "", "D:/x.ts"],
    ["\\\\server\\share\\x.ts", windows, "", "//server/share/x.ts"],
    ["a\\b.ts", ada, "", "a\\b.ts"],
    ["file:///home/ada/api/a%20b.ts", ada, "", "a b.ts"],
    ["/private/tmp/x", ada, "", "/tmp/x"],
    ["/home/ada/api/", ada, "", undefined],
    ["/home/ada/api", ada, "", undefined],
    [".", ada, "", undefined],
    ["/", ada, "", undefined],
    ["é/ü.ts", ada, "", "é/ü.ts"],
    ["e\u0301.ts", ada, "", "\u00e9.ts"],
    ["C:\\Work\\Notes\\x.ts", { cwd: "/mnt/c/work/notes" }, "", "x.ts"],
    ["/c/Work/Notes/x.ts", { cwd: "\\\\?\\C:\\Work\\Notes" }, "", "x.ts"],
    ["src\\x.ts", { cwd: "\\\\wsl.localhost\\Debian\\home\\ada\\api" }, "", "src/x.ts"],
    ["/home/ada/api/x.ts", { cwd: "\\\\wsl$\\Debian\\home\\ada\\api" }, "", "x.ts"],
    ["\\\\wsl.localhost\\Debian\\home\\ada\\api\\x.ts", ada, "", "x.ts"],
    ["/p/x.ts", { cwd: "/p" }, "", "x.ts"],
    ["漢".repeat(900), ada, "", undefined],
  ])("%s in %o %s", (path, metadata, cwd, expected) => {
    expect(projectPath(path, readPlace(metadata), cwd || undefined)).toBe(expected);
  });
});

describe("counting lines", () => {
  test("as few as possible, as the library that draws finds them", () => {
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return seed % below;
    };
    const text = () => Array.from({ length: random(30) }, () => `${"abc"[random(3)]}${random(4)}\n`).join("");
    for (let round = 0; round < 500; round += 1) {
      const [before, after] = [text(), text()];
      const lines = structuredPatch("", "", before, after).hunks.flatMap((one) => one.lines);
      const count = (sign: string) => lines.filter((line) => line.startsWith(sign)).length;
      expect(countChange(before, after)).toEqual({ added: count("+"), removed: count("-") });
    }
  });

  test("two large texts without much in common are counted alike each time", () => {
    const large = (step: number) => Array.from({ length: 50_000 }, (_, at) => `${(at * step) % 4999}`).join("\n");
    const [one, two] = [large(7), large(11)];
    const counts = countChange(one, two);
    expect(countChange(one, two)).toEqual(counts);
    expect(countChange(one, `${one}\nmore`)).toEqual({ added: 1, removed: 0 });
  });

  test.each([
    ["a name of a file and a removed line of dashes", "--- a/x.sql\n+++ b/x.sql\n@@ -1,2 +1,1 @@\n--- old\n a", 0, 1],
    ["a rule in a new file", "+---\n+title: x\n+---", 3, 0],
    [
      "two files",
      "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\ndiff --git a/y b/y\nindex 1..2\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b",
      2,
      2,
    ],
    ["removed and added dashes and pluses below a heading of Codex", "@@ class X\n--- old\n+++ new\n a", 1, 1],
    ["files below headings without lengths", "--- a/x\n+++ b/x\n@@\n-a\n+b\n--- a/y\n+++ b/y\n@@\n-c", 1, 2],
    ["a wrong length", "@@ -1,9 +1,9 @@\n a\n-b\n+c\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n+d", 2, 1],
  ])("%s", (_, patch, added, removed) => {
    expect(countPatch(patch)).toEqual({ added, removed });
  });
});
