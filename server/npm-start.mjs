// `npm start` and its parts build what is missing and become the built launcher. Plain JavaScript spares the process
// 13 MiB of Node's TypeScript compiler.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";

const [role = "all"] = process.argv.slice(2);
const needsWeb = role === "all" || role === "web";
const only = needsWeb ? [] : ["--programs"];
let isStopped = false;

// The built program answers in a tenth of a second, Node's compiler of TypeScript takes another three. Neither is in this process:
// it would keep what they read for as long as it lives.
const isBuilt = existsSync("dist/server/is-built.mjs") && (await run(["dist/server/is-built.mjs", ...only])) === 0;
if (!isBuilt && (await run(["--conditions=react-server", "server/build/build.ts", ...only])) !== 0) process.exit(1);
await import("../dist/server/start.mjs");

/** Runs Node to its end, or until this process is to stop. Returns its exit code. */
async function run(words) {
  const child = spawn(process.execPath, words, { stdio: "inherit" });
  const stop = () => {
    isStopped = true;
    child.kill();
  };
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, stop);
  const [code] = await once(child, "exit");
  if (isStopped) process.exit(0);
  for (const signal of ["SIGINT", "SIGTERM"]) process.off(signal, stop);
  return code;
}
