// This module lists the components of the server's package, as the lock names them, and collects their licenses.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const isWindows = process.platform === "win32"; // there npm is a batch file
const npm = (words: string[], cwd: string) =>
  promisify(execFile)("npm", words, { cwd, shell: isWindows, maxBuffer: 1 << 26 });

/**
 * Reads what is left of the lock without the packages of development. npm's own `--omit=dev` leaves out whatever one of those needs
 * too, among them React.
 *
 * @returns the software bill of materials (CycloneDX), and the texts of all licenses, each once
 */
export async function readComponents(): Promise<{ bom: string; licenses: string }> {
  const parent = await mkdtemp(join(tmpdir(), "spoor-components-"));
  const folder = join(parent, "spoor-server"); // npm names what it lists by its folder
  try {
    await mkdir(folder);
    const {
      devDependencies: _,
      scripts: __,
      private: ___,
      ...manifest
    } = JSON.parse(await readFile("package.json", "utf8"));
    for (const group of [manifest.dependencies, manifest.optionalDependencies ?? {}]) {
      for (const name of Object.keys(group)) if (/^node(-|$)/.test(name)) delete group[name]; // the package runs on its user's Node
    }
    await writeFile(join(folder, "package.json"), JSON.stringify({ ...manifest, name: "spoor-server" }));
    await copyFile("package-lock.json", join(folder, "package-lock.json"));
    await npm(["install", "--package-lock-only", "--ignore-scripts", "--prefer-offline", "--no-audit"], folder);
    const words = ["sbom", "--sbom-format=cyclonedx", "--sbom-type=application", "--package-lock-only"];
    const { stdout } = await npm(words, folder);
    const { packages } = JSON.parse(await readFile(join(folder, "package-lock.json"), "utf8"));
    return { bom: stdout, licenses: await readLicenses(Object.keys(packages).filter(Boolean)) };
  } finally {
    await rm(parent, { recursive: true, force: true });
  }
}

/** The licenses of the packages that are installed here: those for other platforms are not in the server's package. */
async function readLicenses(folders: string[]): Promise<string> {
  const owners = new Map<string, string[]>();
  for (const folder of folders.filter((one) => existsSync(one))) {
    const { name, version } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
    const entries = await readdir(folder, { withFileTypes: true });
    const isLicense = /^(licen[cs]e|notice|copying)/i;
    for (const { name: file } of entries.filter((one) => one.isFile() && isLicense.test(one.name))) {
      const text = (await readFile(join(folder, file), "utf8")).trim();
      owners.set(text, [...(owners.get(text) ?? []), `${name} ${version}`]);
    }
  }
  owners.set((await readFile("app/fonts/OFL.txt", "utf8")).trim(), ["Geist and Geist Mono (fonts)"]);
  const line = "-".repeat(80);
  return [...owners].map(([text, names]) => `${[...new Set(names)].join(", ")}\n\n${text}\n`).join(`\n${line}\n\n`);
}
