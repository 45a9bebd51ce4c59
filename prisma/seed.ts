// `npm run seed -- --messages 1000000 [--session 50000]`: fills a database with generated sessions, for measurements and for
// trying things out. They belong to the owner; where there is no account yet, it creates one and prints its password.
import { randomBytes } from "node:crypto";
import { parseArgs } from "node:util";
import { createOwner, findOwner } from "#lib/auth/accounts";
import { operator } from "#lib/auth/audit";
import { openSetup } from "#lib/auth/setup";
import { EnvError } from "#lib/core/errors";
import { pool } from "#lib/db/client";
import { runCommand, say } from "#server/commands/command";
import { prepareSchema, withDatabase } from "#server/commands/database";
import { fill } from "./fill.ts";

function readOptions(): { messages: number; session: number; seed: number } {
  const text = { type: "string" } as const;
  const { values } = parseArgs({ options: { messages: text, session: text, seed: text } });
  const readNumber = (name: "messages" | "session" | "seed", fallback: number) => {
    const value = Number(values[name] ?? fallback);
    if (!Number.isSafeInteger(value) || value < 0) throw new EnvError(`--${name} must be a whole number`);
    return value;
  };
  return {
    messages: readNumber("messages", 10_000),
    session: readNumber("session", 0),
    seed: readNumber("seed", Date.now()),
  };
}

async function ownerId(): Promise<string> {
  const link = await openSetup();
  if (link) {
    const account = { name: "Seed", email: "seed@example.org", password: randomBytes(9).toString("base64url") };
    await createOwner(new URL(link).searchParams.get("token") ?? "", account, operator);
    say(`Created the account ${account.email} with the password ${account.password}`);
  }
  return (await findOwner()) as string;
}

async function main(): Promise<void> {
  const options = readOptions();
  await withDatabase(async () => {
    await prepareSchema();
    const userId = await ownerId();
    const startedAt = performance.now();
    let reported = 0;
    const traces = await fill(userId, options, (written) => {
      if (written - reported < options.messages / 20) return;
      reported = written;
      say(`${written} messages after ${Math.round((performance.now() - startedAt) / 1000)} s`);
    });
    await pool().query("analyze trace, message");
    say(
      `Created ${options.messages + options.session} messages in ${traces} sessions. The worker indexes them for search.`,
    );
  });
}

runCommand(main);
