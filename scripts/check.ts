// `npm run check`: lint, types, and the tests that need no build of the pages. Lint and types run beside the tests, which
// leave a processor idle while PostgreSQL starts and where they wait.
import { spawn } from "node:child_process";
import { installTools } from "../tools/install.ts";

// Once, and not by each of the three at the same time.
installTools();

type Ended = { name: string; code: number };

/** Runs a script of package.json to its end. @param isShown at once; otherwise only if it fails */
function run(name: string, words: string[], isShown = false): Promise<Ended> {
  const child = spawn("npm", ["run", "--silent", ...words], {
    stdio: isShown ? "inherit" : ["ignore", "pipe", "pipe"],
    shell: process.platform === "win32", // where npm is a batch file
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (part) => (output += part));
  return new Promise((resolve) => {
    child.on("close", (code) => {
      if (code !== 0 && !isShown) process.stdout.write(output);
      resolve({ name, code: code ?? 1 });
    });
  });
}

const ended = await Promise.all([run("lint", ["lint"]), run("types", ["types"]), run("tests", ["check:tests"], true)]);
const failed = ended.filter(({ code }) => code !== 0).map(({ name }) => name);
process.stdout.write(failed.length === 0 ? "Lint, types and tests passed.\n" : `Failed: ${failed.join(", ")}.\n`);
process.exitCode = failed.length === 0 ? 0 : 1;
