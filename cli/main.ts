// The client's entry. The build makes one file of it, which every server delivers at /spoor.mjs.

import { homedir } from "node:os";
import { makeTerminal, reportError, runClient } from "./client.ts";
import { keepNewSpaceSmall } from "./files/line-reader.ts";
import { currentFolder } from "./program.ts";

keepNewSpaceSmall();
const { env } = process;
const words = process.argv.slice(2);
const terminal = makeTerminal(words, env, {
  output: process.stdout,
  errors: process.stderr,
  input: () => process.stdin,
});
const interrupted = new AbortController();
process.on("uncaughtException", (error) => process.exit(reportError(error, terminal, env)));
for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => interrupted.abort());
process.exitCode = await runClient(words, {
  home: homedir,
  cwd: currentFolder(),
  env,
  platform: process.platform,
  terminal,
  signal: interrupted.signal,
});
