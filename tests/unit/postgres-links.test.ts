import { mkdir, mkdtemp, readlink, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { linkLibraries } from "#lib/db/embedded/postgres-programs";

test("links between PostgreSQL's libraries are made where npm ran no scripts, also by several at once", async () => {
  const folder = await mkdtemp(join(tmpdir(), "spoor-links-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await linkLibraries(folder); // Windows' package has none
  await mkdir(join(folder, "native/lib"), { recursive: true });
  await writeFile(join(folder, "native/lib/libpq.so.5.18"), "");
  const links = ["libpq.so", "libpq.so.5"].map((name) => ({
    ...{ source: "native/lib/libpq.so.5.18", target: `native/lib/${name}` },
  }));
  await writeFile(join(folder, "native/pg-symlinks.json"), JSON.stringify(links));
  await Promise.all([linkLibraries(folder), linkLibraries(folder)]);
  for (const name of ["libpq.so", "libpq.so.5"]) {
    expect(await readlink(join(folder, "native/lib", name))).toBe("libpq.so.5.18");
  }
});
