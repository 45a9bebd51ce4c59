import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Host } from "../../cli/adapters/adapter.ts";
import { agreeToFirstPush } from "../../cli/commands/first-push.ts";
import { projects } from "../../cli/commands/projects.ts";
import { push } from "../../cli/commands/push.ts";
import type { Context } from "../../cli/context.ts";
import { addRules, normalizeGlob } from "../../cli/projects/edit.ts";
import type { FoundProject } from "../../cli/projects/found.ts";
import { showProjects } from "../../cli/projects/show.ts";
import type { PushTarget } from "../../cli/sync/push-target.ts";
import { SentRecord } from "../../cli/sync/sent-record.ts";
import { makeHome, toLines, writeBelow } from "./home.ts";
import { runInside, worldInside } from "./inside.ts";
import { claudeLines } from "./sessions.ts";
import { claudePath, makeId } from "./world.ts";

const server = "https://spoor.example.org";

async function target(host: Host, agreedTo: string[] = []): Promise<PushTarget> {
  const record = await SentRecord.open(host, server, "u1");
  return { connection: { server, settings: { agreedTo } }, account: { email: "ada@example.org" }, record } as never;
}

const toHome = (sessions: number) =>
  makeHome(
    Object.fromEntries(
      Array.from({ length: sessions }, (_, index) => [
        claudePath(index),
        toLines(...claudeLines(makeId(index), 1, { cwd: index % 2 === 0 ? "/srv/web" : "/srv/api" })),
      ]),
    ),
  );

describe("the first push", () => {
  const first = (host: Host, agreedTo?: string[]) => async (context: Context) =>
    agreeToFirstPush(context, await target(host, agreedTo));

  test("shows what it would send, by project, and sends nothing after a no", async () => {
    const host = await toHome(3);
    const { code, message, output, errors } = await runInside(first(host), host, { columns: 80, answer: "n" });
    expect([code, message, errors]).toEqual([1, "Nothing was sent.", "Send them, and new ones at each push? [y/N] "]);
    expect(output).toMatch(
      /^The first push from this machine to https:\S+, as ada@example\.org, sends:\n\nProject +Sess/,
    );
    expect(output).toMatch(/\n\/srv\/web +2 +[\d.]+ KiB +20\d\d-\d\d-\d\d +Claude Code\n/);
    expect(output).toMatch(/\n3 sessions \([\d.]+ KiB\) in 2 projects\.\nTo exclude some first: .*\n$/);
  });

  test("at the end of an installation takes an empty line for a yes", async () => {
    const host = await toHome(1);
    const command = async (context: Context) => agreeToFirstPush(context, await target(host), true);
    const { code, errors } = await runInside(command, host, { columns: 80, answer: "" });
    expect([code, errors]).toEqual([0, "Send them, and new ones at each push? [Y/n] "]);
  });

  test("asks once, and not at all with --yes, without a terminal, or where nothing is there to send", async () => {
    const host = await toHome(2);
    const asked = await runInside(first(host), host, { columns: 80, answer: "yes" });
    expect([asked.code, asked.errors]).toEqual([0, expect.stringContaining("[y/N]")]);
    const settings = JSON.parse(await readFile(join(host.home, ".config/spoor/settings.json"), "utf8"));
    expect(settings.agreedTo).toEqual([server]);
    const nothing = { code: 0, message: "", output: "", errors: "" };
    expect(await runInside(first(host, settings.agreedTo), host, { columns: 80 })).toEqual(nothing);
    expect(await runInside(first(host), host)).toEqual(nothing);
    const empty = await makeHome();
    expect(await runInside(first(empty), empty, { columns: 80 })).toEqual(nothing);
    const withYes = await runInside(first(host), host, { columns: 80, values: { yes: true } });
    expect([withYes.errors, withYes.output]).toEqual(["", expect.stringContaining("in 2 projects.\n")]);
  });
});

describe("a table of projects", () => {
  const project = (index: number): FoundProject => ({
    name: `/home/ada/code/a-project-with-a-long-name-${index}`,
    sessions: 1200 + index,
    bytes: 5_000_000,
    agents: ["Claude Code", "Codex CLI"],
    lastActivity: Date.parse("2026-11-20T10:00:00Z"),
    leftOutBy: undefined,
    secrets: {},
    pictures: {},
  });
  const host: Host = { home: "/home/ada", cwd: "/", env: {}, platform: "linux" };
  const lines = async (columns: number | undefined, count: number, all = false) => {
    const found = Array.from({ length: count }, (_, index) => project(index));
    const show = async ({ terminal }: Context) => showProjects({ host, terminal }, found, { all, more: "spoor x" });
    return (await runInside(show, host, { columns })).output.trimEnd().split("\n");
  };

  test.each([80, 60, 40, 36])("fits into %i columns", async (columns) => {
    const shown = await lines(columns, 3);
    expect(shown).toHaveLength(4);
    expect(Math.max(...shown.map((line) => line.length))).toBeLessThanOrEqual(columns);
    for (const [index, line] of shown.slice(1).entries())
      expect(line).toMatch(new RegExp(`name-${index} +1,20${index} +4.8 MiB`));
  });

  test("of 500 is folded on a terminal, and tells what is behind the fold", async () => {
    const shown = await lines(80, 500);
    expect(shown).toHaveLength(22);
    expect(shown.at(-1)).toBe("and 480 more projects: 700,560 sessions, 2.2 GiB. All: spoor x");
    expect(await lines(80, 500, true)).toHaveLength(501);
    expect(await lines(undefined, 500)).toHaveLength(501);
    expect(await lines(80, 24)).toHaveLength(25);
  });
});

describe("a rule", () => {
  const host: Host = { home: "/home/ada", cwd: "/home/ada/code/[x]", env: {}, platform: "linux" };

  test.each([
    ["api", "api"],
    ["~/code/*", "~/code/*"],
    ["/home/ada/code/api/", "~/code/api"],
    ["/srv/*", "/srv/*"],
    [".", "~/code/\\[x\\]"],
    ["..", "~/code"],
    ["./a*", "~/code/\\[x\\]/a*"],
    ["../api", "~/code/api"],
    ["sub/a?", "~/code/\\[x\\]/sub/a?"],
    ["**/secret", "**/secret"],
    ["C:\\Users\\Ada\\code", "C:/Users/Ada/code"],
    ["/", "/"],
    ["//", "/"],
  ])("%s is kept as %s", (given, stored) => {
    expect(normalizeGlob(given, host)).toBe(stored);
  });

  test("can't be empty, or begin with an exclamation mark", () => {
    expect(() => normalizeGlob(" ", host)).toThrow("empty");
    expect(() => normalizeGlob("!api", host)).toThrow("projects include api");
  });

  test("replaces an earlier one for the same, and one for all replaces all", () => {
    expect(addRules([], "include", ["api"])).toEqual([{ exclude: "**" }, { include: "api" }]);
    expect(addRules([{ exclude: "api" }], "include", ["api"])).toEqual([{ include: "api" }]);
    expect(addRules([{ include: "api" }, { exclude: "web" }], "exclude", ["api"])).toEqual([
      { exclude: "web" },
      { exclude: "api" },
    ]);
    expect(addRules([{ exclude: "web" }], "include", ["**"])).toEqual([]);
    expect(addRules([{ include: "web" }], "exclude", ["*"])).toEqual([{ exclude: "**" }]);
  });
});

describe("spoor projects", () => {
  test("lists what was found and what is left out, and says what stays on the server", async () => {
    const { home, host } = await worldInside(2);
    const run = (...words: string[]) => runInside(projects, host, { words });
    await writeBelow(home, claudePath(3), toLines(...claudeLines(makeId(3), 1, { cwd: join(home, "code/web") })));
    await runInside(push, host);
    const excluded = await run("exclude", "~/code/*", "none-like-this");
    expect(excluded).toMatchObject({ code: 0, errors: "" });
    expect(excluded.output).toContain("✓ Excluded ~/code/*, none-like-this.\n");
    expect(excluded.output).toMatch(/1 uploaded session stays on the server.*:\n {4}http:\S+\/traces\?project=web\n/);
    const listed = await run();
    expect(listed.output).toMatch(/^Project .*\n\/home\/ada\/code\/api +2 .*Claude Code\n/);
    expect(listed.output).toMatch(
      /Excluded: neither read nor sent\nProject +Files .*\n~\/code\/web +1 .* {2}~\/code\/\*\n/,
    );
    expect(listed.output).toMatch(/1 project with 2 sessions \(\S+ KiB\) is sent; 1 other is excluded\.\n/);
    expect(listed.output).toMatch(/ {2}exclude {2}~\/code\/\*\n {2}exclude {2}none-like-this\n$/);
    await writeBelow(home, "code/web/.spoorignore", "");
    const included = await run("include", "~/code/*");
    expect([included.code, included.errors]).toEqual([0, "! ~/code/web/.spoorignore still excludes its folder.\n"]);
    const { output } = await runInside(projects, host, { values: { json: true } });
    expect(JSON.parse(output)).toMatchObject({
      rules: [{ exclude: "none-like-this" }, { include: "~/code/*" }],
      projects: [{ sessions: 1, leftOutBy: { file: join(home, "code/web/.spoorignore") } }, { sessions: 2 }],
    });
  });

  test("refuses what it does not know", async () => {
    const host = await makeHome();
    const run = (...words: string[]) => runInside(projects, host, { words });
    for (const [words, told] of [
      [["remove", "x"], 'Use include or exclude, not "remove"'],
      [["exclude"], "projects exclude takes a project's name or folder"],
      [["exclude", "!x"], 'A glob can\'t begin with "!"'],
    ] as const) {
      const { code, message } = await run(...words);
      expect([code, message]).toEqual([2, expect.stringContaining(told)]);
    }
    expect((await run()).output).toContain("No sessions found on this machine.");
  });
});
