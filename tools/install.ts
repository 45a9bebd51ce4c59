// What only tests and checks need is in a package of its own, as much again as what Spoor is built and run with. It is installed when
// one of them first runs. `node tools/install.ts COMMAND` runs one of its commands.
import { execSync, spawnSync } from "node:child_process";
import { existsSync, statSync, symlinkSync } from "node:fs";
import { delimiter, join } from "node:path";

const packages = join(import.meta.dirname, "node_modules");
/** Where the tests look for packages. A package.json in `tests` itself would be the one whose `#lib` they import. */
const link = join(import.meta.dirname, "../tests/node_modules");

/** Installs the packages, unless those of this lock are there. */
export function installTools(): void {
  const changedAt = (path: string) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (changedAt(join(packages, ".package-lock.json")) < changedAt(join(import.meta.dirname, "package-lock.json"))) {
    process.stderr.write("Installing what tests and checks need (tools)…\n");
    const command = "npm ci --no-audit --no-fund --loglevel=error";
    execSync(command, { cwd: import.meta.dirname, stdio: ["ignore", 2, 2] });
  }
  if (!existsSync(link)) symlinkSync(packages, link, "junction");
}

if (import.meta.main) {
  installTools();
  const PATH = `${join(packages, ".bin")}${delimiter}${process.env.PATH}`;
  const [command, ...words] = process.argv.slice(2);
  // npm's commands are scripts of a shell on Windows.
  const options = { stdio: "inherit", env: { ...process.env, PATH }, shell: process.platform === "win32" } as const;
  if (command) process.exitCode = spawnSync(command, words, options).status ?? 1;
}
