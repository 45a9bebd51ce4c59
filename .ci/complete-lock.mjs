/**
 * Completes package-lock.json after an install through a mirror that lacks some platforms' optional packages.
 *
 * npm leaves a package out of the lock when the registry cannot serve it, and `npm ci` elsewhere then refuses
 * with "Missing … from lock file". Every optional dependency named without an entry gets one that says which
 * platform it is for; npm skips it everywhere else. A package for one C library says so, or npm would install it beside
 * the other's. Run it after each `npm install`: `node .ci/complete-lock.mjs`.
 *
 * Such an entry has no hash, since the registry told none: npm would install whatever it gets on that platform. They are listed in
 * .ci/without-integrity.json, and no other package may lack its hash. `npm run lock -- --fill` asks a registry that has them.
 *
 * With `--check` it only reports, and fails where something is missing. A folder with another lock may be named.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";

const folder = process.argv.slice(2).find((word) => !word.startsWith("--")) ?? resolve(import.meta.dirname, "..");
const path = resolve(folder, "package-lock.json");
const listPath = resolve(folder, ".ci/without-integrity.json");
const before = readFileSync(path, "utf8");
const lock = JSON.parse(before);
const list = existsSync(listPath) ? JSON.parse(readFileSync(listPath, "utf8")) : { packages: [] };
const platforms = ["android", "darwin", "freebsd", "linux", "openharmony", "win32"];
const processors = ["arm64", "x64", "ia32", "arm", "ppc64", "riscv64", "s390x", "wasm32"];

/** The places where Node would look for `name` from the package at `from`, nearest first. */
function* resolutions(from, name) {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf("node_modules/") - 1))) {
    yield `${at ? `${at}/` : ""}node_modules/${name}`;
    if (!at) return;
  }
}

const missing = [];
for (const [at, entry] of Object.entries(lock.packages)) {
  for (const [name, range] of Object.entries(entry.optionalDependencies ?? {})) {
    if ([...resolutions(at, name)].some((place) => lock.packages[place])) continue;
    const words = name.split(/[-/]/);
    const os = platforms.filter(
      (platform) => words.includes(platform) || (platform === "win32" && words.includes("win")),
    );
    const cpu = processors.filter(
      (cpu) => words.includes(cpu) || (cpu === "arm" && words.some((w) => w.startsWith("arm-") || w === "arm")),
    );
    missing.push(name);
    lock.packages[`node_modules/${name}`] = {
      version: range.replace(/^[\^~]/, ""),
      ...(cpu.length ? { cpu } : {}),
      ...(entry.dev ? { dev: true } : {}),
      ...(words[0] === "node" ? { bin: { node: os[0] === "win32" ? "bin/node.exe" : "bin/node" } } : {}), // npm links what the lock names
      optional: true,
      ...(os.length ? { os } : { os: ["none"] }),
    };
  }
}

const nameOf = (at) => at.slice(at.lastIndexOf("node_modules/") + 13);

/** The packages of the lock that npm would install without checking what it got, by name. */
const withoutHash = () =>
  Object.entries(lock.packages).flatMap(([at, entry]) =>
    at === "" || entry.link || entry.integrity ? [] : [{ name: nameOf(at), entry }],
  );

/** The C library that a package for Linux is built for, by its name. Node's own packages don't say theirs. */
function findLibc(name) {
  if (/linux.*musl/.test(name)) return "musl";
  return /linux.*gnu|^node-linux-/.test(name) ? "glibc" : undefined;
}

// Where the lock names no C library, npm installs the packages for each of them.
const withoutLibc = Object.entries(lock.packages)
  .map(([at, entry]) => ({ entry, name: nameOf(at), libc: findLibc(nameOf(at)) }))
  .filter(({ entry, libc }) => libc && !entry.libc);
for (const { entry, libc } of withoutLibc) entry.libc = [libc];

/** Asks the registry for one package's hash and address. @returns whether it has them */
function fill({ name, entry }) {
  try {
    const words = ["view", `${name}@${entry.version}`, "dist.integrity", "dist.tarball", "--json"];
    const told = JSON.parse(execFileSync("npm", words, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }));
    Object.assign(entry, { resolved: told["dist.tarball"], integrity: told["dist.integrity"] });
  } catch {
    console.log(`the registry has no ${name}@${entry.version}`); // it stays listed
  }
}

if (process.argv.includes("--check")) {
  const listed = new Set(list.packages);
  const found = new Set(withoutHash().map(({ name }) => name));
  const faults = [
    ...missing.map((name) => `${name}: an optional package that the lock lacks`),
    ...withoutLibc.map(({ name }) => `${name}: no libc`),
    ...[...found].filter((name) => !listed.has(name)).map((name) => `${name}: no integrity`),
    ...[...listed].filter((name) => !found.has(name)).map((name) => `${name}: listed without integrity, but has one`),
  ];
  if (faults.length === 0) process.exit(0);
  console.error(`package-lock.json: run node .ci/complete-lock.mjs\n${faults.join("\n")}`);
  process.exit(1);
}
if (process.argv.includes("--fill")) for (const one of withoutHash()) fill(one);
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
const after = `${JSON.stringify(lock, null, 2)}\n`;
if (after !== before) writeFileSync(path, after);
// Only what has to be added by hand is a decision: a package for a platform that the registry does not serve.
const added = new Set([...list.packages, ...missing]);
list.packages = [...new Set(withoutHash().map(({ name }) => name))].filter((name) => added.has(name)).sort();
if (existsSync(listPath)) writeFileSync(listPath, `${JSON.stringify(list, null, 2)}\n`);
else if (list.packages.length) throw new Error(`${listPath} has to name ${list.packages.join(", ")}`);
console.log(`completed ${missing.length} entries; ${list.packages.length} have no hash`);
