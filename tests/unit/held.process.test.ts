import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";

const script = `
  import { env } from "./lib/env.ts";
  import { whenLetGo, whenToldVariables } from "./lib/server/held.ts";
  process.send("loaded");
  await whenToldVariables();
  process.send(env().DATABASE_URL);
  await whenLetGo();
  process.on("SIGTERM", () => process.exit(7));
  setInterval(() => {}, 1000);
  process.send("gone on");`;

/** A held process, which tells what it has come to. */
async function held(): Promise<ChildProcess> {
  const words = ["--conditions=react-server", "--input-type=module", "-e", script, "--", "--held"];
  const { DATABASE_URL: _, ...env } = process.env;
  const child = spawn(process.execPath, words, { env, stdio: ["ignore", "inherit", "inherit", "ipc"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  expect(await once(child, "message")).toEqual(["loaded", undefined]);
  return child;
}

test("a held process takes its variables, then goes on, and ends as it would from then on", async () => {
  const child = await held();
  const url = "postgres://ada@127.0.0.1:1/none";
  child.send({ variables: { DATABASE_URL: url } });
  expect(await once(child, "message")).toEqual([url, undefined]);
  child.send({ go: true });
  expect(await once(child, "message")).toEqual(["gone on", undefined]);
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  expect((await ended)[0]).toBe(7);
});

test.each(["SIGTERM", "its launcher's end"])("a held process ends at %s", async (end) => {
  const child = await held();
  const ended = once(child, "exit");
  if (end === "SIGTERM") child.kill(end);
  else child.disconnect();
  expect((await ended)[0]).toBe(0);
});
