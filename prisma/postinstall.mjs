// Runs after every `npm ci`. The Prisma CLI is a development dependency: an installation without those
// (`npm ci --omit=dev`) runs on the client that its build has generated, and needs no CLI.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

const project = fileURLToPath(new URL("..", import.meta.url));
const cli = `${project}node_modules/prisma/build/index.js`;
const generated = `${project}lib/generated/prisma/client.ts`;

/** A seventh of what was installed, and read by nobody: headers of Node, and Prisma's compilers for other databases. */
const unused = [
  ["node_modules", /^node-(bin|darwin|linux|win)-/, "/include"],
  ["node_modules/@prisma/client/runtime", /^query_compiler_.*\.(cockroachdb|mysql|sqlite|sqlserver)\./, ""],
  ["node_modules/prisma/build", /^query_compiler_.*\.(cockroachdb|mysql|sqlite|sqlserver)\./, ""],
];

for (const [folder, names, below] of unused) {
  const found = existsSync(project + folder) ? readdirSync(project + folder).filter((name) => names.test(name)) : [];
  for (const name of found) rmSync(`${project}${folder}/${name}${below}`, { recursive: true, force: true });
}

if (existsSync(cli)) {
  process.exitCode = spawnSync(process.execPath, [cli, "generate"], { cwd: project, stdio: "inherit" }).status ?? 1;
} else if (!existsSync(generated)) {
  process.stderr.write("The Prisma client is missing. Run `npm ci && npm run build`, then `npm ci --omit=dev`.\n");
  process.exitCode = 1;
}
