#!/usr/bin/env node
// The command of the npm package. It loads nothing before it knows that this Node can run it.
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { fileURLToPath } from "node:url";

const [major, minor] = process.versions.node.split(".").map(Number);
if (major >= 24 || (major === 22 && minor >= 15)) await run();
else {
  const own = process.versions.node;
  process.stderr.write(`Spoor needs Node 22 (from 22.15 on) or Node 24 or later; this is Node ${own}.\n`);
  process.exitCode = 1;
}

/** Prints what was asked for, or becomes the program that was: in the package's folder, with its words and variables. */
async function run() {
  const { readCall } = await import("./app/dist/server/installed.mjs");
  const { version } = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8"));
  const place = { platform: process.platform, home: homedir(), folder: process.cwd(), variables: process.env };
  const call = readCall(process.argv.slice(2), place, version);
  if ("text" in call) {
    (call.exitCode === 0 ? process.stdout : process.stderr).write(call.text);
    process.exitCode = call.exitCode;
    return;
  }
  if (call.note) process.stdout.write(`${call.note}\n`);
  Object.assign(process.env, call.variables);
  process.argv.splice(2, Infinity, ...call.words);
  process.chdir(fileURLToPath(new URL("app/", import.meta.url)));
  await import(`./app/dist/server/${call.program}.mjs`);
}
