import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spoor-is-built-"));
  for (const name of ["app", "cli", "lib", "dist/server", ".next"])
    await mkdir(join(folder, name), { recursive: true });
  for (const name of ["app/page.tsx", "cli/main.ts", "lib/a.ts", "package.json"])
    await writeFile(join(folder, name), "1");
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const node = (...words: string[]) =>
  spawnSync(process.execPath, ["--conditions=react-server", ...words], { cwd: folder });
const isBuilt = (...words: string[]) => node(resolve("server/build/is-built.ts"), ...words).status === 0;

/** Leaves the stamps of a build of the folder as it is now. */
function build(): void {
  const { href } = pathToFileURL(resolve("server/build/stamps.ts"));
  const script = `import { writeFileSync } from "node:fs"; import { missing, stamps } from "${href}";
    writeFileSync("dist/spoor.mjs", "");
    for (const [output, path] of Object.entries(stamps)) { const digest = missing(output); if (digest) writeFileSync(path, digest); }`;
  expect(node("--input-type=module", "-e", script).status).toBe(0);
}

test("is built only while there is a build of exactly these sources", async () => {
  expect(isBuilt()).toBe(false);
  build();
  expect(isBuilt()).toBe(true);
  await writeFile(join(folder, "app/page.tsx"), "2");
  expect([isBuilt(), isBuilt("--programs")]).toEqual([false, true]);
  build();
  await writeFile(join(folder, "lib/a.ts"), "2");
  expect([isBuilt(), isBuilt("--programs")]).toEqual([false, false]);
  build();
  await rm(join(folder, "dist/spoor.mjs"));
  expect([isBuilt(), isBuilt("--programs")]).toEqual([false, false]);
});
