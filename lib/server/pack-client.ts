import "server-only";
import { execFile } from "node:child_process";
import { chmod, copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { bundleClient } from "#lib/server/client-bundle";

const name = "spoor-client";

/**
 * Makes the npm package of the client from its source: the file that servers deliver, without a server's address.
 *
 * @param folder where the package is put
 * @returns its path
 */
export async function packClient(folder: string): Promise<string> {
  const { version, description, license, engines } = JSON.parse(await readFile("package.json", "utf8"));
  const content = join(folder, name);
  await rm(content, { recursive: true, force: true });
  await mkdir(content, { recursive: true });
  const about = {
    name,
    version,
    description: `${description} This is its client.`,
    license,
    type: "module",
    bin: { spoor: "spoor.mjs" },
    engines,
    files: ["spoor.mjs"],
    keywords: ["coding-agent", "claude-code", "codex", "sessions"],
  };
  await writeFile(join(content, "package.json"), `${JSON.stringify(about, null, 2)}\n`);
  await writeFile(join(content, "spoor.mjs"), await bundleClient());
  await chmod(join(content, "spoor.mjs"), 0o755);
  await copyFile("cli/README.md", join(content, "README.md"));
  await copyFile("LICENSE", join(content, "LICENSE"));
  const words = ["pack", "--json", "--pack-destination", resolve(folder)];
  const isWindows = process.platform === "win32"; // there npm is a batch file
  const { stdout } = await promisify(execFile)("npm", words, { cwd: content, shell: isWindows });
  const [packed] = JSON.parse(stdout) as { filename: string }[];
  if (!packed) throw new Error(`npm pack made nothing: ${stdout}`);
  return join(folder, packed.filename);
}

if (import.meta.main) process.stdout.write(`${await packClient("dist")}\n`);
