import "server-only";
import { readFile } from "node:fs/promises";

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
  return output[0].code;
}
