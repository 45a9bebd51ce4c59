import { mkdir } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { describe, expect, test } from "vitest";
import { expandHomes, splitFolders } from "../../cli/adapters/named-folders.ts";
import { makeHome, toLines, writeBelow } from "./home.ts";
import { claudeLines } from "./sessions.ts";
import { makeId, world } from "./world.ts";

test("a `~` at the beginning of a variable is the home folder", () => {
  const env = { A: "~", B: "~/x", C: "~ada/x", D: "x/~/y", E: "", F: undefined, G: "~\\x" };
  expect(expandHomes(env, "/home/ada")).toEqual({ ...env, A: "/home/ada", B: "/home/ada/x", G: "/home/ada\\x" });
});

describe("a list of folders", () => {
  test.each<[string, string | undefined, string[]]>([
    ["one", "a", ["a"]],
    ["several", "a, b ,~/c", ["a", "b", "{home}/c"]],
    ["none", undefined, []],
    ["empty pieces", ",a,,", ["a"]],
    [
      "commas in names",
      "{home}/AI,ML,{home}/x,y,z,{home}/none,more",
      ["{home}/AI,ML", "{home}/x,y,z", "{home}/none", "more"],
    ],
  ])("%s", async (_, list, folders) => {
    const host = await makeHome();
    for (const name of ["AI,ML", "x,y,z", "x"]) await mkdir(join(host.home, name));
    const filled = (text: string) => text.replaceAll("{home}", host.home);
    expect(splitFolders(host, list && filled(list), ",")).toEqual(folders.map(filled));
  });
});

describe("scan", () => {
  const session = (folder: string) => `${folder}/projects/-code-api/${makeId(7)}.jsonl`;

  test("reads the folders that a variable names, with a `~`, a comma, or both", async () => {
    const { home, run } = await world(0);
    await writeBelow(home, session(".work"), toLines(...claudeLines(makeId(7), 1)));
    await writeBelow(home, session("AI,ML"), toLines(...claudeLines(makeId(8), 1)));
    const { code, output } = await run(["scan", "--json"], { CLAUDE_CONFIG_DIR: `~/.work,${home}/AI,ML` });
    expect([code, JSON.parse(output).adapters["claude-code"].inputs, JSON.parse(output).missing]).toEqual([0, 2, []]);
  });

  test("names a folder that a variable names in vain, and fails where there is nothing else", async () => {
    const { home, run } = await world(1);
    const none = join(home, "none");
    const warning = (variable: string) => `${variable} names ${none}, which does not exist.\n`;
    expect(await run(["scan"], { CODEX_HOME: none })).toMatchObject({ code: 0, errors: warning("CODEX_HOME") });
    const env = { CLAUDE_CONFIG_DIR: none, SPOOR_AIDER: [home, none].join(delimiter) };
    const alone = await run(["scan", "--source", "claude-code", "--source", "aider"], env);
    expect([alone.code, alone.errors]).toEqual([2, warning("CLAUDE_CONFIG_DIR") + warning("SPOOR_AIDER")]);
    const other = { XDG_DATA_HOME: none, CLAUDE_CONFIG_DIR: home };
    expect(await run(["scan"], other)).toMatchObject({ code: 0, errors: "" });
  });
});
