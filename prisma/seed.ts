// `npm run seed -- --messages 1000000 [--session 50000]`: fills a database with made-up conversations, for measuring and for
// trying things out. They are the owner's; where there is no account yet, it makes one and prints its password.
import { randomBytes } from "node:crypto";
import { parseArgs } from "node:util";
import { createOwner, findOwner } from "#lib/auth/accounts";
import { operator } from "#lib/auth/audit";
import { openSetup } from "#lib/auth/setup";
import { closeDatabase, pool } from "#lib/db/client";
import { EnvError } from "#lib/env";
import { prepareDatabase, prepareSchema, runCommand, say } from "#lib/server/start";
import { fill } from "./fill.ts";

function readOptions(): { messages: number; session: number; seed: number } {
  const text = { type: "string" } as const;
  const { values } = parseArgs({ options: { messages: text, session: text, seed: text } });
  const numberOf = (name: "messages" | "session" | "seed", usual: number) => {
    const value = Number(values[name] ?? usual);
    if (!Number.isSafeInteger(value) || value < 0) throw new EnvError(`--${name} must be a whole number`);
    return value;
  };
  return {
    messages: numberOf("messages", 10_000),
    session: numberOf("session", 0),
    seed: numberOf("seed", Date.now()),
  };
}

async function ownerId(): Promise<string> {
  const link = await openSetup();
  if (link) {
    const account = { name: "Seed", email: "seed@example.org", password: randomBytes(9).toString("base64url") };
    await createOwner(new URL(link).searchParams.get("token") ?? "", account, operator);
    say(`Made the account ${account.email} with the password ${account.password}`);
  }
  return (await findOwner()) as string;
}

async function main(): Promise<void> {
  const options = readOptions();
  const database = await prepareDatabase();
  try {
    await prepareSchema();
    const userId = await ownerId();
    const startedAt = performance.now();
    let told = 0;
    const traces = await fill(userId, options, (written) => {
      if (written - told < options.messages / 20) return;
      told = written;
      say(`${written} messages after ${Math.round((performance.now() - startedAt) / 1000)} s`);
    });
    await pool().query("analyze trace, message");
    say(
      `Made ${options.messages + options.session} messages in ${traces} conversations. A worker makes them searchable.`,
    );
  } finally {
    await closeDatabase();
    await database.stop();
  }
}

runCommand(main);
