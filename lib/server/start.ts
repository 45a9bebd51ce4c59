// The launcher: it has everything prepared, starts the processes of its role, and keeps them and the embedded database running.
// It prints for people; the processes log lines of JSON. It loads next to nothing, for it lives as long as they do.
import "server-only";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setFlagsFromString } from "node:v8";
import { type EmbeddedDatabase, takeOverEmbedded } from "#lib/db/embedded";
import { EnvError } from "#lib/errors";
import { listenForStop, runCommand, say } from "#lib/server/command";
import { launch, program } from "#lib/server/processes";
import { type Role, serve, startProcesses } from "#lib/server/serve";

/**
 * What the launcher is told, one after the other: the variables that the processes need before there is a database; that it and
 * its schema are there; that everything is prepared.
 */
export type Step = { variables: { AUTH_SECRET: string } } | { schema: { DATABASE_URL: string } } | Prepared;

/** What the launcher tells the preparing process: to end, unless it is past the start of the database; that it uses that now. */
export type Word = "stop" | "taken over";

type Prepared = {
  url: string;
  /** Lines to print when the processes are ready. */
  greeting: string[];
  /** The folder of the embedded database, where it is used. */
  dataDir: string | undefined;
};

// What only watches gains nothing from an optimizing compiler, which stays in memory once it was used: 6 MiB.
for (const flag of ["--no-opt", "--no-maglev"]) setFlagsFromString(flag);

const roles = ["all", "dev", "web", "worker", "migrate"];

/** @returns the exit code */
async function main(role: Role | "migrate"): Promise<number> {
  // Signals are handled from here on, so that one during the start still stops the database.
  const stopRequest = listenForStop();
  const preparing = launch([program("prepare"), role], {});
  const exit = once(preparing, "exit");
  const tell = (word: Word) => preparing.send(word, () => {}); // one that is gone needs no telling
  stopRequest.addEventListener("abort", () => tell("stop"));
  if (role === "migrate") return (await exit)[0] ?? 1;
  const { variables, schema, end } = stepsOf(preparing, exit);
  let database: EmbeddedDatabase | undefined;
  const starting = startProcesses(role, {}, stopRequest, {
    variables,
    schema,
    database: async () => database?.whenUp(),
  });
  starting.catch(() => {}); // told below, where it is not because the preparation failed
  const prepared = await end.catch(() => undefined);
  if (!prepared) {
    const started = await starting.catch(() => undefined); // those that failed are stopped by then
    await started?.stop();
    return (await exit)[0] ?? 1; // it has said why it failed
  }
  const { url, greeting, dataDir } = prepared;
  database = dataDir ? await takeOverEmbedded(dataDir, url) : undefined;
  tell("taken over");
  try {
    await serve(starting, database, stopRequest, async () => {
      for (const line of greeting) say(line);
      return true;
    });
  } finally {
    await exit;
    await database?.stop();
  }
  return 0;
}

/** What the preparing process tells, step by step. What it has not told rejects when it ends. */
function stepsOf(preparing: ChildProcess, exit: Promise<unknown>) {
  const steps = {
    variables: Promise.withResolvers<Record<string, string>>(),
    schema: Promise.withResolvers<Record<string, string>>(),
    end: Promise.withResolvers<Prepared>(),
  };
  preparing.on("message", (step: Step) => {
    if ("variables" in step) steps.variables.resolve(step.variables);
    else if ("schema" in step) steps.schema.resolve(step.schema);
    else steps.end.resolve(step);
  });
  for (const { promise } of Object.values(steps)) promise.catch(() => {}); // whoever awaits them has it
  exit.then(() => {
    for (const { reject } of Object.values(steps)) reject(new Error("the preparation ended"));
  });
  return { variables: steps.variables.promise, schema: steps.schema.promise, end: steps.end.promise };
}

await runCommand(async () => {
  const [role = "all"] = process.argv.slice(2);
  if (roles.includes(role)) return main(role as Role);
  throw new EnvError(
    `Unknown role "${role}". Use dev, web, worker or migrate; all, or none, for web and worker together.`,
  );
});
