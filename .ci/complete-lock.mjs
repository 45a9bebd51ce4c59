/**
 * Completes package-lock.json after an install through a mirror that lacks some platforms' optional packages.
 *
 * npm leaves a package out of the lock when the registry cannot serve it, and `npm ci` elsewhere then refuses
 * with "Missing … from lock file". Every optional dependency named without an entry gets one that says which
 * platform it is for; npm skips it everywhere else. Run it after each `npm install`: `node .ci/complete-lock.mjs`.
 * With `--check` it only reports, and fails where something is missing.
 */
import { readFileSync, writeFileSync } from "node:fs";

const path = new URL("../package-lock.json", import.meta.url);
const lock = JSON.parse(readFileSync(path, "utf8"));
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
    const os = platforms.filter((platform) => words.includes(platform));
    const cpu = processors.filter(
      (cpu) => words.includes(cpu) || (cpu === "arm" && words.some((w) => w.startsWith("arm-") || w === "arm")),
    );
    missing.push(name);
    lock.packages[`node_modules/${name}`] = {
      version: range.replace(/^[\^~]/, ""),
      ...(cpu.length ? { cpu } : {}),
      ...(entry.dev ? { dev: true } : {}),
      optional: true,
      ...(os.length ? { os } : { os: ["none"] }),
    };
  }
}

if (missing.length && process.argv.includes("--check")) {
  console.error(
    `package-lock.json lacks ${missing.length} optional packages: run node .ci/complete-lock.mjs\n${missing.join("\n")}`,
  );
  process.exit(1);
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`completed ${missing.length} entries`);
