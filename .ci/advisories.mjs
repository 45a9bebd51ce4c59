// `npm run advisories`: fails on a high or critical advisory for a package of either lock, unless .ci/allowed-advisories.json has the
// reason why it does not concern Spoor. A registry without advisories, or no network, is said and is no failure.
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";

const timeoutSeconds = Number(process.env.ADVISORIES_TIMEOUT_SECONDS ?? 60);
const serious = ["high", "critical"];

/** Runs `npm audit`, which exits with 1 where it finds something. @returns its report, or why there is none */
function readReport(folder) {
  const npm = process.env.npm_execpath;
  const words = ["audit", "--json", "--package-lock-only", "--fetch-retries=1", "--fetch-timeout=20000"];
  const [file, all] = npm ? [process.execPath, [npm, ...words]] : ["npm", words];
  const options = { cwd: folder, timeout: timeoutSeconds * 1000, killSignal: "SIGKILL", maxBuffer: 64 * 1024 * 1024 };
  return new Promise((resolve) => {
    execFile(file, all, options, (error, output) => {
      if (error?.killed) return resolve({ fault: `no answer within ${timeoutSeconds} s` });
      const report = parse(output);
      if (report?.auditReportVersion === 2) return resolve({ report });
      resolve({ fault: report?.message || report?.error?.summary || error?.message || "npm audit printed no report" });
    });
  });
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Each advisory of a report once, by its id (GHSA-…). */
function advisoriesIn({ vulnerabilities }) {
  const found = Object.values(vulnerabilities).flatMap(({ via }) => via.filter((one) => typeof one === "object"));
  return new Map(found.map((one) => [one.url.split("/").at(-1), one]));
}

const advisories = new Map();
for (const folder of [".", "tools"]) {
  const { report, fault } = await readReport(folder);
  if (fault) {
    console.log(`The registry's advisories could not be read, so the dependencies were NOT checked: ${fault}`);
    process.exit(0);
  }
  for (const [id, advisory] of advisoriesIn(report)) advisories.set(id, advisory);
}
const allowed = JSON.parse(await readFile(new URL("allowed-advisories.json", import.meta.url), "utf8"));
let failures = 0;
for (const [id, { name, severity, title, range }] of advisories) {
  const reason = allowed[id];
  const verdict = reason ? `allowed: ${reason}` : serious.includes(severity) ? "NOT ALLOWED" : "noted";
  if (verdict === "NOT ALLOWED") failures++;
  console.log(`${id} ${severity} ${name} ${range}: ${title} (${verdict})`);
}
for (const id of Object.keys(allowed)) {
  if (!advisories.has(id)) console.log(`${id} no longer concerns the lock: remove it from .ci/allowed-advisories.json`);
}
console.log(`${advisories.size} advisories, ${failures} of them high or critical and not allowed.`);
process.exit(failures > 0 ? 1 : 0);
