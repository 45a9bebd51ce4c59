// `npm run admin`: what only the operator of the server can do, since it sends no mail.
import "server-only";
import { randomBytes } from "node:crypto";
import { z } from "zod";
import { findOwner, listAccounts, resetPassword } from "#lib/auth/accounts";
import { operator } from "#lib/auth/audit";
import { invite } from "#lib/auth/invitations";
import { closeDatabase } from "#lib/db/client";
import { EnvError } from "#lib/env";
import { prepareDatabase, prepareSchema, runCommand, say } from "#lib/server/start";

const help = `Usage: npm run admin -- COMMAND

  list                    every account: role, address, name, since when
  invite [EMAIL]          a link that makes one account within 7 days
  reset-password EMAIL    a new password; ends the account's sessions, revokes its
                          tokens and takes its second factor away
      --keep-tokens       its machines stay logged in: for a password that was
                          forgotten, not found out`;

const commands: Record<string, (argument: string | undefined, option: string | undefined) => Promise<void>> = {
  async list() {
    const accounts = await listAccounts();
    if (accounts.length === 0) return say("There is no account yet. Start Spoor: it prints the set-up link.");
    const width = Math.max(...accounts.map(({ email }) => email.length));
    for (const { role, email, name, createdAt } of accounts) {
      say(`${role.padEnd(6)}  ${email.padEnd(width)}  ${createdAt.toISOString().slice(0, 10)}  ${name}`);
    }
  },

  async invite(argument) {
    const owner = await findOwner();
    if (!owner) throw new EnvError("There is no account yet. Start Spoor: it prints the set-up link.");
    const link = await invite(owner, argument === undefined ? null : address(argument), operator);
    say(`This link makes one account within 7 days:\n  ${link}`);
  },

  async "reset-password"(argument, option) {
    const email = address(argument);
    if (option !== undefined && option !== "--keep-tokens")
      throw new EnvError(`There is no option ${option}.\n\n${help}`);
    const keepTokens = option !== undefined;
    const password = randomBytes(12).toString("base64url");
    if (!(await resetPassword(email, password, operator, { keepTokens }))) {
      throw new EnvError(`No account has the address ${email}.`);
    }
    say(`The new password of ${email} is\n  ${password}\nIts sessions are ended and its second factor is off.`);
    say(keepTokens ? "Its tokens stay valid." : "Its tokens are revoked: each machine has to log in again.");
  },
};

function address(argument: string | undefined): string {
  const parsed = z.email().safeParse(argument);
  if (!parsed.success) throw new EnvError(`This needs an email address.\n\n${help}`);
  return parsed.data;
}

await runCommand(async () => {
  const [name = "help", argument, option] = process.argv.slice(2);
  if (name === "help" || name === "--help") return say(help);
  const command = commands[name];
  if (!command) throw new EnvError(`There is no command "${name}".\n\n${help}`);
  const database = await prepareDatabase();
  try {
    await prepareSchema();
    await command(argument, option);
  } finally {
    await closeDatabase();
    await database.stop();
  }
});
