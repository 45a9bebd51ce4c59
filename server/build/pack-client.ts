import "server-only";
import { execFile } from "node:child_process";
import { chmod, copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { bundleClient } from "#server/build/client-bundle";

const name = "spoor-client";

export async function packClient(folder: string, repository?: string): Promise<string> {
  const { version, description, license, engines } = JSON.parse(await readFile("package.json", "utf8"));
  const content = join(folder, name);
  await rm(content, { recursive: true, force: true });
  await mkdir(content, { recursive: true });
  const about = {
    name,
    version,
    description: `${description} This is its client.`,
    license,
    ...(repository && { repository }),
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
  return (await packFolder(content)).path;
}

export async function packFolder(content: string): Promise<{ path: string; files: string[] }> {
  const folder = resolve(dirname(content));
  const isWindows = process.platform === "win32";
  const options = { cwd: content, shell: isWindows, maxBuffer: 1 << 26 };
  const { stdout } = await promisify(execFile)("npm", ["pack", "--json", "--pack-destination", ".."], options);
  const [packed] = JSON.parse(stdout) as { filename: string; files: { path: string }[] }[];
  if (!packed) throw new Error(`npm pack made nothing: ${stdout}`);
  return { path: join(folder, packed.filename), files: packed.files.map(({ path }) => path) };
}

if (import.meta.main) process.stdout.write(`${await packClient("dist")}\n`);
