import { appendFile, mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { push } from "../../cli/commands/push.ts";
import { scan } from "../../cli/commands/scan.ts";
import { Glob } from "../../cli/projects/globs.ts";
import { type ProjectRule, ProjectRules } from "../../cli/projects/rules.ts";
import { ended, wrote } from "../support/client.ts";
import { makeHome, toLines, writeBelow } from "./home.ts";
import { pushInside, runInside, worldInside } from "./inside.ts";
import { claudeLines, codexLines } from "./sessions.ts";
import { claudePath, makeId, world } from "./world.ts";

const getFolder = (path: string) => path.split("/").filter(Boolean);

describe("a glob", () => {
  test.each([
    ["/home/ada/code/*", "/home/ada/code/api/src", true],
    ["/home/ada/code/*", "/home/ada/code", false],
    ["/home/ada/co?e", "/home/ada/code", true],
    ["**/secret", "/a/b/secret/c", true],
    ["**/secret", "/a/b/secrets", false],
    ["/a/**", "/a", true],
    ["/a/**/b", "/a/x/y/b", true],
    ["/a/**/b", "/a/b", true],
    ["/a/[!b-d]c", "/a/ec", true],
    ["/a/[!b-d]c", "/a/cc", false],
    ["/a/{b,c{d,e}}", "/a/ce", true],
    ["/a/{b,c}", "/a/d", false],
    ["/a/\\*", "/a/*", true],
    ["/a/\\*", "/a/b", false],
    ["/a/{b", "/a/{b", true],
  ])("%s and %s: %s", (glob, path, expected) => {
    expect(new Glob(glob).matchesPath(getFolder(path))).toBe(expected);
  });

  test("from a stranger can't take long", () => {
    const startedAt = performance.now();
    const long = Array.from({ length: 100 }, () => "a".repeat(250));
    expect(new Glob(`${"*a".repeat(1000)}b`).matchesPath(long)).toBe(false);
    expect(new Glob(`${"**/a*/".repeat(300)}b`).matchesPath(long)).toBe(false);
    expect(new Glob(`{${",".repeat(4000)}`).matchesPath(long)).toBe(false);
    expect(new Glob("{a,b}".repeat(100)).matchesPath(long)).toBe(false);
    expect(performance.now() - startedAt).toBeLessThan(2000);
  });
});

describe("the rules", () => {
  const leavesOut = (rules: ProjectRule[], cwd: string | undefined, project?: string) =>
    new ProjectRules({ home: "/home/ada", cwd: "/", env: {}, platform: "linux" }, rules).findExclusion({
      cwd,
      project,
    }) !== undefined;

  test.each<[ProjectRule[], string | undefined, boolean]>([
    [[], "/home/ada/code/api", false],
    [[{ exclude: "~/code" }], "/home/ada/code/api", true],
    [[{ exclude: "~/code" }], "/home/ada/codes", false],
    [[{ exclude: "~" }], "/home/ada", true],
    [[{ exclude: "/home/ada/code/*" }], "/home/ada/code/api/src", true],
    [[{ exclude: "api" }], "/home/ada/code/api", true],
    [[{ exclude: "api" }], "/home/ada/code/api/src", true],
    [[{ exclude: "ada" }], "/home/ada/code/api", false],
    [[{ exclude: "a*" }], "/srv/api", true],
    [[{ exclude: "*" }], undefined, true],
    [[{ exclude: "(none)" }], undefined, true],
    [[{ exclude: "**" }, { include: "~/work/**" }], "/home/ada/work/x", false],
    [[{ exclude: "**" }, { include: "~/work/**" }], "/home/ada/play", true],
    [[{ exclude: "**" }, { include: "~/work" }, { exclude: "secret" }], "/home/ada/work/secret", true],
    [[{ exclude: "C:/Users/Ada/*" }], "c:\\users\\ada\\Code\\api", true],
    [[{ exclude: "C:/Users/Ada/Code" }], "C:\\Users\\Ada\\Codes", false],
    [[{ exclude: "API" }], "C:\\Users\\Ada\\api", true],
    [[{ exclude: "API" }], "/home/ada/api", false],
    [[{ exclude: "C:/Users/Ada/*" }], "\\\\?\\C:\\users\\ada\\api", true],
    [[{ exclude: "C:/Users/Ada/*" }], "/mnt/c/users/ada/api", true],
    [[{ exclude: "/mnt/c/Users/Ada" }], "c:\\users\\ada\\api", true],
    [[{ exclude: "/mnt/c/work*" }], "/mnt/c/Work/api", true],
    [[{ exclude: "~/api" }], "\\\\wsl.localhost\\Debian\\home\\ada\\api", true],
    [[{ exclude: "caf\u00e9" }], "/srv/cafe\u0301", true],
    [[{ exclude: "/srv/cafe\u0301" }], "/srv/caf\u00e9/x", true],
  ])("%j for %s: %s", (rules, cwd, expected) => {
    expect(leavesOut(rules, cwd)).toBe(expected);
  });

  test("know a session without a folder by its project's name", () => {
    expect(leavesOut([{ exclude: "web*" }], undefined, "website")).toBe(true);
    expect(leavesOut([{ exclude: "~/web*" }], undefined, "website")).toBe(false);
  });

  test("follow links, from both sides", async () => {
    const host = await makeHome({ "real/api/x": "" });
    await symlink(join(host.home, "real"), join(host.home, "link"));
    const judge = (glob: string, folder: string) =>
      new ProjectRules(host, [{ exclude: glob }]).findExclusion({ cwd: join(host.home, folder) }) !== undefined;
    expect([judge("~/link/*", "real/api"), judge("~/real/*", "link/api"), judge("~/link/a*", "link/api")]).toEqual([
      true,
      true,
      true,
    ]);
    expect(judge("~/link/b*", "real/api")).toBe(false);
  });
});

describe("a .spoorignore", () => {
  const judge = async (files: Record<string, string | Buffer>, folder: string, rules: ProjectRule[] = []) => {
    const host = await makeHome(files);
    await mkdir(join(host.home, folder), { recursive: true });
    return new ProjectRules(host, rules).findExclusion({ cwd: join(host.home, folder) }) !== undefined;
  };

  test.each<[string, string, boolean]>([
    ["", "code/api", true],
    ["# not here\n\n", "code/api/src", true],
    ["*", "code/api", true],
    ["/", "code/api", true],
    ["**\n", "code/api/src", true],
    ["secret/", "code/api", false],
    ["secret/\r\n", "code/api/src/secret/x", true],
    ["/secret", "code/api/src/secret", false],
    ["/secret", "code/api/secret", true],
    ["src/*.old", "code/api/src/x.old", true],
    ["*\n!public", "code/api/public/x", false],
    ["*\n!public", "code/api/src", true],
    ["*", "code/web", false],
  ])("with %j for %s: %s", async (text, folder, expected) => {
    expect(await judge({ "code/api/.spoorignore": text }, folder)).toBe(expected);
  });

  test("takes back lines of its own alone: never what the settings leave out, nor another file", async () => {
    expect(await judge({ ".spoorignore": "code/*\n!code/api" }, "code/api")).toBe(false);
    expect(await judge({ ".spoorignore": "!code/api", "code/.spoorignore": "a*" }, "code/api")).toBe(true);
    expect(await judge({ "code/.spoorignore": "a*", "code/api/.spoorignore": "!*" }, "code/api")).toBe(true);
    expect(
      await judge({ ".spoorignore": "", "code/.spoorignore": "!api", "code/api/.spoorignore": "!*" }, "code/api"),
    ).toBe(true);
    expect(
      await judge({ ".spoorignore": "code/*\n!code/api", "code/api/.spoorignore": "src\n!src" }, "code/api/src"),
    ).toBe(false);
    expect(await judge({ "code/api/.spoorignore": "!*" }, "code/api", [{ exclude: "api" }])).toBe(true);
    expect(await judge({ "code/api/.spoorignore": "*" }, "code/api", [{ include: "api" }])).toBe(true);
    expect(await judge({ "code/api/.spoorignore/x": "" }, "code/api")).toBe(true);
  });

  test.each<[string, string | Buffer, string, boolean]>([
    ["UTF-8 with a byte order mark", "\ufeffsecret\n", "code/secret", true],
    ["UTF-16, as PowerShell writes it", Buffer.from("\ufeffsecret\r\n", "utf16le"), "code/secret", true],
    ["the same, for another folder", Buffer.from("\ufeffsecret\r\n", "utf16le"), "code/api", false],
    ["Latin-1", Buffer.from("clients-m\u00fcller\n", "latin1"), "code/api", true],
    ["NULs", "secret\0\n", "code/api", true],
    ["more than 1000 lines", "x\n".repeat(1001), "code/api", true],
    ["1000 lines", "x\n".repeat(1000), "code/api", false],
    ["more than 64 KiB", `${"#".repeat(80)}\n`.repeat(820), "code/api", true],
    ["a line that no path is as long as", `x\n${"y".repeat(5000)}`, "code/api", true],
  ])("in %s is read as it was meant, or leaves out its folder", async (_, content, folder, expected) => {
    expect(await judge({ "code/.spoorignore": content }, folder)).toBe(expected);
  });
});

const settings = (projects: ProjectRule[]) => JSON.stringify({ projects });
const settingsFile = ".config/spoor/settings.json";

describe("what is left out", () => {
  test("is neither read further nor sent by scan and push, and is sent once it is wanted again", async () => {
    const { home, host, fake } = await worldInside(1);
    const web = { cwd: "/home/ada/code/web" };
    const secret = await writeBelow(home, claudePath(2), `${toLines(...claudeLines(makeId(2), 1, web))}{"broken\n`);
    await writeBelow(
      home,
      `.codex/sessions/rollout-${makeId(3)}.jsonl`,
      `${toLines(...codexLines(makeId(3), 1, web))}{\n`,
    );
    await writeBelow(home, settingsFile, settings([{ exclude: "~/nowhere" }, { exclude: "/home/ada/*/web" }]));
    const plan = await pushInside(host, { "dry-run": true });
    expect(plan).toMatchObject({ code: 0, invalid: 0, sessions: [{ sourceId: makeId(1) }], projectsLeftOut: 1 });
    for (const sessions of [1, 0]) {
      const { code, sent, errors } = await pushInside(host);
      expect([code, sent.sessions, errors]).toEqual([0, sessions, ""]);
    }
    for (const grown of [false, true]) {
      if (grown) await appendFile(secret, "{}\n");
      const scanned = await runInside(scan, host);
      expect(scanned.output).toMatch(/^Claude Code +1 .*\n[^C]*1 project is excluded\. See: .* projects$/m);
      expect(scanned.errors).toBe("");
    }
    const named = await runInside(push, host, { values: { project: ["web"] } });
    expect([named.code, named.output]).toEqual([0, expect.stringMatching(/^Nothing to send\.\n1 project is excluded/)]);
    await writeBelow(home, settingsFile, settings([]));
    expect((await pushInside(host)).sent.sessions).toBe(2);
    expect((await runInside(scan, host)).errors).toContain(`${secret}:5: not JSON`);
    expect(fake.archive.size).toBe(3);
  });

  test("is told by each session of a file that holds many, also of one that is named", async () => {
    const { home, host, fake } = await worldInside(0);
    const one = (sourceId: string, project: string) => ({
      sourceId,
      project,
      messages: [{ position: 0, content: "Hi" }],
    });
    const path = await writeBelow(home, ".local/share/spoor/jsonl/x.jsonl", toLines(one("a", "api"), one("b", "web")));
    await writeBelow(home, settingsFile, settings([{ exclude: "web" }]));
    expect(await pushInside(host, {}, [path])).toMatchObject({ code: 0, sent: { sessions: 1 }, projectsLeftOut: 1 });
    expect(await pushInside(host)).toMatchObject({ code: 0, same: 1, sent: { sessions: 0 }, projectsLeftOut: 1 });
    await writeBelow(home, settingsFile, settings([]));
    expect((await pushInside(host)).sent.sessions).toBe(1);
    expect([...fake.archive.keys()]).toEqual(["unknown/a", "unknown/b"]);
  });

  test("is not sent any more after it was, and not read either", async () => {
    const { home, host, fake } = await worldInside(1);
    await pushInside(host);
    await writeBelow(home, settingsFile, settings([{ exclude: "api" }]));
    await appendFile(join(home, claudePath(1)), `${toLines(...claudeLines(makeId(1), 1))}{"broken\n`);
    expect(await pushInside(host)).toMatchObject({ code: 0, invalid: 0, sent: { sessions: 0 }, projectsLeftOut: 1 });
    expect(fake.uploads).toHaveLength(1);
    const scanned = await runInside(scan, host, { values: { "no-telemetry": true } });
    expect(scanned.output).toMatch(/^No session was counted\.\n1 project is excluded\./);
  });

  test("is not known where the settings can't be read: nothing is sent then", async () => {
    const { home, host, fake } = await worldInside(1);
    for (const text of ['{"projects":', '{"projects":"web"}', '{"projects":[{"exclude":7}]}']) {
      await writeBelow(home, settingsFile, text);
      const { code, message } = await runInside(push, host);
      expect([code, message]).toEqual([1, expect.stringContaining("the excluded projects are unknown")]);
    }
    expect(fake.uploads).toEqual([]);
  });
});

test("watch takes a change of the rules without a restart", async () => {
  const { home, start, fake } = await world(1);
  const watching = start(["watch"]);
  await wrote(watching, /1 new/, 60);
  await writeBelow(home, settingsFile, settings([{ exclude: "web" }]));
  await writeBelow(home, claudePath(2), toLines(...claudeLines(makeId(2), 1, { cwd: "/srv/web" })));
  await writeBelow(home, claudePath(3), toLines(...claudeLines(makeId(3), 1)));
  await expect.poll(() => [...fake.archive.keys()], { timeout: 60_000 }).toContain(`claude-code/${makeId(3)}`);
  const gone = ended(watching);
  watching.kill("SIGINT");
  expect((await gone).code).toBe(130);
  expect(fake.archive.size).toBe(2);
}, 120_000);
