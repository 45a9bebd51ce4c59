import "server-only";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** Not minified, so that people can read what they run. */
export async function bundleClient(version?: string): Promise<string> {
  const own = JSON.parse(await readFile("package.json", "utf8")) as { version: string };
  const named = version ?? own.version;
  const { rolldown } = await import("rolldown");
  const bundle = await rolldown({
    input: "cli/main.ts",
    platform: "node",
    tsconfig: false,
    transform: { target: "node20", define: { SPOOR_VERSION: JSON.stringify(named) } },
  });
  const banner = `#!/usr/bin/env node\n// spoor ${named}: sends coding-agent sessions to a Spoor server.`;
  const shape = { format: "esm", codeSplitting: false, comments: { legal: false } } as const;
  const { output } = await bundle.generate({ ...shape, banner });
  await bundle.close();
  const [{ code, moduleIds }] = output;
  return code + (await readLicenses(moduleIds));
}

/** The licenses of the packages in the bundle, as a comment. */
async function readLicenses(moduleIds: string[]): Promise<string> {
  const folders = moduleIds.flatMap((id) => /^.*\/node_modules\/((?:@[^/]+\/)?[^/]+)(?=\/)/.exec(id)?.[0] ?? []);
  const texts = new Map<string, string>();
  for (const folder of [...new Set(folders)].sort()) {
    const name = folder.slice(folder.lastIndexOf("/node_modules/") + "/node_modules/".length);
    const file = (await readdir(folder)).find((one) => /^licen[cs]e/i.test(one));
    if (!file) throw new Error(`${name} is bundled into the client without its license`);
    texts.set(name, (await readFile(join(folder, file), "utf8")).trim());
  }
  const lines = [...texts].map(([name, text]) => `${name}\n\n${text}\n`);
  return lines.length === 0 ? "" : `\n/*\nThis file contains these packages:\n\n${lines.join("\n\n")}*/\n`;
}
