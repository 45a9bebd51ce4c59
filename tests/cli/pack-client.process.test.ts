import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { packClient } from "#server/build/pack-client";
import { version } from "../../package.json" with { type: "json" };
import { ended } from "../support/client.ts";
import { longTest } from "../support/long.ts";
import { examples } from "../unit/secrets/of-preset.ts";
import { writeBelow } from "./home.ts";
import { makeMachine } from "./machine.ts";

/** Makes the package. @returns its path, and a folder for the current test */
async function pack(): Promise<{ packed: string; folder: string }> {
  const folder = await mkdtemp(join(tmpdir(), "spoor-pack-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return { packed: await packClient(folder), folder };
}

test("the npm package has the client as its program, a license and a page about it, and depends on nothing", async () => {
  const { packed, folder } = await pack();
  const { stdout } = await promisify(execFile)("tar", ["-xvzf", packed, "-C", folder]);
  const files = ["LICENSE", "README.md", "package.json", "spoor.mjs"];
  expect(stdout.trim().split("\n").sort()).toEqual(files.map((name) => `package/${name}`));
  const about = JSON.parse(await readFile(join(folder, "package/package.json"), "utf8"));
  expect(about).toMatchObject({ name: "spoor-client", version, bin: { spoor: "spoor.mjs" } });
  expect(about.dependencies).toBeUndefined();
  const program = await readFile(join(folder, "package/spoor.mjs"), "utf8");
  for (const name of ["@noble/ciphers", "@scure/base", "age-encryption"])
    expect(program).toMatch(new RegExp(`\n${name}\n\n[^@]{0,500}Copyright`));
  expect((await stat(join(folder, "package/spoor.mjs"))).mode & 0o111).toBe(0o111);
});

longTest("the npm package is installed from its file alone, and runs as `spoor`", async () => {
  const { packed, folder } = await pack();
  const prefix = join(folder, "prefix");
  const words = ["install", "-g", "--offline", "--no-audit", "--no-fund", "--cache", join(folder, "cache")];
  await promisify(execFile)("npm", [...words, "--prefix", prefix, packed]);
  const files = join(prefix, "lib/node_modules/spoor-client");
  expect((await readdir(files)).sort()).toEqual(["LICENSE", "README.md", "package.json", "spoor.mjs"]);
  const spoor = join(prefix, "bin/spoor");
  const { start, home } = await makeMachine("");
  const env = { PATH: `${join(process.execPath, "..")}:/usr/bin:/bin` };
  const run = (...args: string[]) => ended(start([spoor, ...args], env));
  expect(await run("--version")).toEqual({ code: 0, output: `${version}\n`, errors: "" });
  expect((await run("--help")).output).toContain("\n  spoor push ");
  expect((await run("push")).errors).toContain("No server is set");
  expect(await run("update")).toMatchObject({ code: 2, errors: expect.stringContaining("npm install -g") });
  const [{ secret } = { secret: "" }] = examples.filter(({ kind }) => kind === "vercel");
  const notes = await writeBelow(home, "notes.txt", `as ${secret}\n`);
  expect((await run("redact", "--check", notes)).output).toContain("notes.txt:1:4  Vercel token\n");
  await rm(notes);
  // npm's own file is what the service runs; nothing is copied.
  const dry = await run("install", "--dry-run", "--server", "http://127.0.0.1:9", "--no-hooks");
  expect([dry.code, dry.output.includes("client.mjs")]).toEqual([0, false]);
  expect((await readdir(home)).sort()).toEqual(["spoor.mjs"]);
});
