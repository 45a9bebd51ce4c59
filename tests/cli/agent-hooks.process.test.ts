import { chmod, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { adapters } from "../../cli/adapters/registry.ts";
import { targets } from "../../cli/install/agents/targets.ts";
import { writeBelow } from "./home.ts";
import { bundle, makeMachine, startReleases } from "./machine.ts";

const client = await bundle("1.2.0");

/** The settings of agents as their users may have written them. */
const settings = {
  ".gemini/settings.json": `{\n  // how I sign in\n  "security": { "auth": { "selectedType": "x" } } // by key\n}\n`,
  ".qwen/settings.json": `{\n\t"$version": 3, /* "mine" */\n\t"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}\n}`,
  ".copilot/config.json": "{}",
  ".config/opencode/node_modules/@opencode-ai/plugin/package.json": "{}",
  ".pi/agent/settings.json": "{}",
};
const own = {
  "copilot-cli": ".copilot/hooks/spoor.json",
  opencode: ".config/opencode/plugins/spoor.js",
  pi: ".pi/agent/extensions/spoor.js",
};
const install = ["install", "--yes", "--no-service", "--no-login"];

/** A machine with all of these agents. */
async function world(platform: "linux" | "darwin" | "win32" = "linux") {
  const releases = await startReleases(client, "1.2.0");
  const machine = await makeMachine(client.replaceAll("@SPOOR_SERVER@", releases.url), {}, platform);
  for (const [path, text] of Object.entries(settings)) await writeBelow(machine.home, path, text);
  const read = (path: string) => readFile(join(machine.home, path), "utf8");
  /** How the agents that have a shell start the client. */
  const commands = async () => {
    const texts = await Promise.all([".gemini/settings.json", ".qwen/settings.json", own["copilot-cli"]].map(read));
    return texts.map((text) => {
      const [, command = ""] = /"(?:command|bash|powershell)": ?("[^"\n]*service hook[^"\n]*")/.exec(text) ?? [];
      return JSON.parse(command) as string;
    });
  };
  return { ...machine, read, commands };
}

describe("install", () => {
  test.each(["linux", "darwin", "win32"] as const)(
    "on %s has every agent send, changes nothing the second time, and `uninstall` restores the home to the byte",
    async (platform) => {
      const { run, tree, home, read } = await world(platform);
      const before = await tree();
      const dry = await run(["install", "--dry-run", "--no-service"]);
      expect(await tree()).toEqual(before);
      expect([(await run(install)).code, dry.code]).toEqual([0, 0]);
      for (const [path, text] of Object.entries(settings)) {
        const now = await read(path);
        // One insertion: what was there is there, in its order.
        const start = [...text].findIndex((character, at) => now[at] !== character);
        expect(start === -1 || now.endsWith(text.slice(start))).toBe(true);
        expect(now === text).toBe(!/gemini|qwen/.test(path));
        if (now !== text) expect(dry.output).toContain(join(home, path));
      }
      for (const path of Object.values(own)) {
        expect(dry.output).toContain(join(home, path));
        expect(await read(path)).toContain("`spoor uninstall` removes it");
      }
      const installed = await tree();
      await run(install);
      expect(await tree()).toEqual(installed);
      expect(await run(["uninstall", "--yes"])).toMatchObject({ code: 0, errors: "" });
      expect(await tree()).toEqual(before);
    },
  );

  test("on Windows writes commands of PowerShell, which these agents then take", async () => {
    const { run, commands, read } = await world("win32");
    await run(install);
    const words = /^& '[^']+(?:''[^']*)*' '[^']+(?:''[^']*)*' service hook [a-z-]+ \*> \$null; exit 0$/;
    for (const command of await commands()) expect(command).toMatch(words);
    expect(await read(".qwen/settings.json")).toContain('"shell":"powershell"');
    expect(await read(own["copilot-cli"])).toContain('"powershell": "&');
  });

  test("leaves OpenCode alone until it has what it would wait for, and a file of the user's own", async () => {
    const { run, home, read } = await world();
    await rm(join(home, ".config/opencode/node_modules"), { recursive: true });
    await writeBelow(home, own.pi, "export default () => {};\n");
    const ran = await run(install);
    expect(ran.output).toContain("OpenCode: send after each turn: not now, as it waits for npm");
    expect(ran.errors).toContain("extensions/spoor.js exists and differs from what `install` wrote");
    await expect(read(own.opencode)).rejects.toThrow("ENOENT");
    await run(["uninstall", "--yes"]);
    expect(await read(own.pi)).toBe("export default () => {};\n");
  });
});

describe("an agent", () => {
  /** What an agent with plugins does when a session ends. */
  const ends = {
    opencode: `const plugin = await (await import(process.argv[1])).Spoor({});
      for (const type of ["session.created", "session.idle"]) await plugin.event({ event: { type, properties: {} } });`,
    pi: `(await import(process.argv[1])).default({ on: (name, handle) => name === "session_shutdown" && handle() });`,
  };

  test("starts the client with its own name, hears nothing of it, and is well where the client is gone", async () => {
    const { run, exec, home, commands } = await world();
    await run(install);
    const [launcher, called] = [join(home, ".local/bin/spoor"), join(home, "called")];
    await writeFile(
      launcher,
      `#!/bin/sh\necho "$@" >> '${called.replaceAll("'", `'\\''`)}'\necho noise; echo noise >&2; exit 2\n`,
    );
    await chmod(launcher, 0o755);
    const quiet = { code: 0, output: "", errors: "" };
    const fire = async () => {
      for (const command of await commands()) expect(await exec(["bash", "-c", command])).toEqual(quiet);
      for (const [agent, script] of Object.entries(ends)) {
        const file = pathToFileURL(join(home, own[agent as keyof typeof ends])).href;
        const node = [process.execPath, "--no-warnings", "--input-type=module", "-e", script, file];
        expect(await exec(node)).toEqual(quiet);
      }
    };
    await fire();
    const sources = ["copilot-cli", "gemini-cli", "opencode", "pi", "qwen-code"];
    const lines = async () => (await readFile(called, "utf8").catch(() => "")).split("\n").filter(Boolean).sort();
    for (const startedAt = performance.now(); (await lines()).length < sources.length; await sleep(20)) {
      if (performance.now() - startedAt > 20_000) break;
    }
    expect(await lines()).toEqual(sources.map((source) => `service hook ${source}`));
    await rm(launcher);
    await fire();
  });

  test("sends a source that an adapter reads", () => {
    const names = adapters.map(({ name }) => name);
    for (const [agent, { source = agent }] of Object.entries(targets)) expect(names).toContain(source);
  });
});
