// What `npm start` and its parts run: builds what is missing, then becomes the built launcher. Plain JavaScript, because Node's
// compiler of TypeScript keeps 13 MiB for as long as a process lives.
import { spawn } from "node:child_process";
import { once } from "node:events";

const [role = "all"] = process.argv.slice(2);
const needsWeb = role === "all" || role === "web";
const words = ["--conditions=react-server", "lib/server/build.ts", ...(needsWeb ? [] : ["--programs"])];
const build = spawn(process.execPath, words, { stdio: "inherit" });
let isStopped = false;
const stop = () => {
  isStopped = true;
  build.kill();
};
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, stop);
const [code] = await once(build, "exit");
if (isStopped) process.exit(0);
if (code !== 0) process.exit(1);
for (const signal of ["SIGINT", "SIGTERM"]) process.off(signal, stop);
await import("../../dist/server/start.mjs");
