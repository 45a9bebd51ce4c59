// What a release is made of, by its lock: the list of its components, and their licenses.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

type Component = { name: string; version: string; properties?: { name: string; value: string }[] };
type Bom = { metadata: { component: Record<string, unknown> }; components: Component[] };

/** The software bill of materials (CycloneDX) of the server's package: every package but those of development. */
export async function readBom(): Promise<Bom> {
  const words = ["sbom", "--sbom-format=cyclonedx", "--sbom-type=application", "--omit=dev", "--package-lock-only"];
  const isWindows = process.platform === "win32"; // there npm is a batch file
  const { stdout } = await promisify(execFile)("npm", words, { shell: isWindows, maxBuffer: 1 << 26 });
  const bom = JSON.parse(stdout) as Bom;
  const { component } = bom.metadata;
  const name = "spoor-server"; // npm takes the folder's name
  const id = { name, "bom-ref": `${name}@${component.version}`, purl: `pkg:npm/${name}@${component.version}` };
  return { ...bom, metadata: { ...bom.metadata, component: { ...component, ...id } } };
}

/** The licenses of all components that are installed here, each text once. */
export async function licenseTexts(): Promise<string> {
  const { components } = await readBom();
  const owners = new Map<string, Set<string>>();
  for (const { name, version, properties } of components) {
    const folder = properties?.find((one) => one.name === "cdx:npm:package:path")?.value ?? "";
    const files = existsSync(folder) ? await readdir(folder) : [];
    for (const file of files.filter((one) => /^(licen[cs]e|notice|copying)/i.test(one))) {
      const text = (await readFile(join(folder, file), "utf8").catch(() => "")).trim();
      if (text) owners.set(text, (owners.get(text) ?? new Set()).add(`${name} ${version}`));
    }
  }
  const line = "-".repeat(80);
  return [...owners].map(([text, names]) => `${[...names].join(", ")}\n\n${text}\n`).join(`\n${line}\n\n`);
}
