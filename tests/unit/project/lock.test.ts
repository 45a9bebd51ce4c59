import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

type Lock = { packages: Record<string, object> };

/** Runs the script on a lock. @returns its exit code, what it said, and both files afterwards */
async function run(lock: Lock, listed: string[], ...words: string[]) {
  const folder = await mkdtemp(join(tmpdir(), "spoor-lock-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await mkdir(join(folder, ".ci"));
  const [lockPath, listPath] = [join(folder, "package-lock.json"), join(folder, ".ci/without-integrity.json")];
  await writeFile(lockPath, JSON.stringify(lock));
  await writeFile(listPath, JSON.stringify({ reason: "r", packages: listed }));
  const { code, text } = await new Promise<{ code: number; text: string }>((resolve) => {
    execFile(process.execPath, [".ci/complete-lock.mjs", folder, ...words], (error, output, errors) => {
      resolve({ code: error ? Number(error.code) : 0, text: output + errors });
    });
  });
  const read = async (path: string) => JSON.parse(await readFile(path, "utf8"));
  return { code, text, lock: (await read(lockPath)) as Lock, listed: (await read(listPath)).packages as string[] };
}

const hashed = (more: object = {}) => ({ version: "1.0.0", integrity: "sha512-x", ...more });
const parent = hashed({ optionalDependencies: { "tool-darwin-arm64": "1.0.0" } });

test("an optional package that the registry did not serve is added and listed as one without hash", async () => {
  const { lock, listed } = await run({ packages: { "": {}, "node_modules/tool": parent } }, []);
  expect(lock.packages["node_modules/tool-darwin-arm64"]).toMatchObject({ optional: true, os: ["darwin"] });
  expect(listed).toEqual(["tool-darwin-arm64"]);
  expect((await run(lock, listed, "--check")).code).toBe(0);
});

test("any other package without hash fails the check, and is not listed by the script", async () => {
  const lock = {
    packages: { "": {}, "node_modules/a": hashed(), "node_modules/a/node_modules/b": { version: "1.0.0" } },
  };
  const checked = await run(lock, [], "--check");
  expect([checked.code, checked.text]).toEqual([1, expect.stringContaining("b: no integrity")]);
  expect((await run(lock, [])).listed).toEqual([]);
});

test("a missing optional package fails the check, and so does one that is listed and has its hash", async () => {
  const missing = await run({ packages: { "node_modules/tool": parent } }, [], "--check");
  expect([missing.code, missing.text]).toEqual([1, expect.stringContaining("tool-darwin-arm64: an optional package")]);
  const stale = await run({ packages: { "node_modules/a": hashed() } }, ["a"], "--check");
  expect([stale.code, stale.text]).toEqual([1, expect.stringContaining("a: listed without integrity, but has one")]);
});

test("a package for one C library says so, since npm would install it beside the other's", async () => {
  const entry = hashed({ os: ["linux"] });
  const packages = { "node_modules/tool-linux-x64-musl": entry, "node_modules/tool-linux-x64-gnu": entry };
  const checked = await run({ packages }, [], "--check");
  expect([checked.code, checked.text]).toEqual([1, expect.stringContaining("tool-linux-x64-musl: no libc")]);
  const { lock } = await run({ packages }, []);
  expect(lock.packages["node_modules/tool-linux-x64-musl"]).toMatchObject({ libc: ["musl"] });
  expect(lock.packages["node_modules/tool-linux-x64-gnu"]).toMatchObject({ libc: ["glibc"] });
});
