// What each route brings along where it runs alone (a function host), and the standalone output (an image): both grow unseen
// when the build can't tell which files some code reads, up to the whole project.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const MB = 1_000_000;
const maxRouteBytes = 20 * MB;
const maxStandaloneBytes = 80 * MB;

const sizeOf = (path) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
const filesBelow = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

const traced = filesBelow(".next/server")
  .filter((path) => path.endsWith(".nft.json"))
  .map((path) => {
    const { files } = JSON.parse(readFileSync(path, "utf8"));
    const bytes = files.reduce((sum, file) => sum + sizeOf(join(dirname(path), file)), 0);
    return { name: relative(".next/server", path).replace(/\.nft\.json$/, ""), bytes };
  })
  .sort((a, b) => b.bytes - a.bytes);
const standalone = filesBelow(".next/standalone").reduce((sum, path) => sum + sizeOf(path), 0);

const figure = (bytes) => `${Math.ceil(bytes / MB)} MB`;
const [largest] = traced;
if (!largest) throw new Error("There is no build: npm run build");
process.stdout.write(
  `${traced.length} routes, the largest brings ${figure(largest.bytes)} (${largest.name}); standalone ${figure(standalone)}\n`,
);
const faults = traced
  .filter(({ bytes }) => bytes > maxRouteBytes)
  .map(({ name, bytes }) => `${name} brings ${figure(bytes)} along; the limit is ${figure(maxRouteBytes)}.`);
if (standalone > maxStandaloneBytes) {
  faults.push(`.next/standalone has ${figure(standalone)}; the limit is ${figure(maxStandaloneBytes)}.`);
}
for (const fault of faults) process.stderr.write(`${fault}\n`);
process.exitCode = faults.length > 0 ? 1 : 0;
