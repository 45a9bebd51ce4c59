// What `npm start` and its parts run: builds what is missing, then becomes the built launcher. Plain JavaScript, because Node's
// compiler of TypeScript keeps 13 MiB for as long as a process lives.
import { spawn } from "node:child_process";
import { once } from "node:events";

const [role = "all"] = process.argv.slice(2);
const needsWeb = role === "all" || role === "web";
// Asking the built program takes a tenth of a second, the compiler of TypeScript another three.
const isBuilt = await import("../../dist/server/is-built.mjs").then(
  (program) => program.isBuilt(needsWeb),
  () => false, // there is none, or it is not to be trusted
);
if (!isBuilt) await build();
await import("../../dist/server/start.mjs");

async function build() {
  const words = ["--conditions=react-server", "lib/server/build.ts", ...(needsWeb ? [] : ["--programs"])];
  const building = spawn(process.execPath, words, { stdio: "inherit" });
  let isStopped = false;
  const stop = () => {
    isStopped = true;
    building.kill();
  };
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, stop);
  const [code] = await once(building, "exit");
  if (isStopped) process.exit(0);
  if (code !== 0) process.exit(1);
  for (const signal of ["SIGINT", "SIGTERM"]) process.off(signal, stop);
}
