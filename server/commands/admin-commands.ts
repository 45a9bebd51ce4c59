import "server-only";
import { randomBytes } from "node:crypto";
import { z } from "zod";
import { findOwner, listAccounts, resetPassword } from "#lib/auth/accounts";
import { operator } from "#lib/auth/audit";
import { invite } from "#lib/auth/invitations";
import { EnvError, UsageError } from "#lib/core/errors";
import { operatorCommand } from "#lib/core/variables/operator-command";
import { rotateKeys } from "#lib/ingest/raw/rotation";
import { countOutdated, requestReaccounting } from "#lib/ledger/version";
import { ownPrices } from "#lib/prices/own";
import { seals } from "#lib/storage/sealed";
import { takePriceList } from "#server/background/price-list";
import { priceTable } from "#server/background/price-table";
import { say } from "#server/commands/command";

const help = `Usage: ${operatorCommand("admin", "COMMAND")}

  list                    list accounts: role, email, date of creation, name
  invite [EMAIL]          print a link that creates one account, valid for 7 days
  reset-password EMAIL    set a new password; also signs the account out everywhere,
                          revokes its tokens and turns its second factor off
      --keep-tokens       keep its tokens: for a password that was forgotten, not
                          compromised
  prices MODEL [DAY]      what a model costs, today or on a day such as 2026-11-01, and
                          from where
  reprice                 after a change of prices: count what is stored anew, in the
                          background
      --status            how much of that is still to be done
  rotate-keys             encrypt kept uploads and pictures with the first key of
                          ENCRYPTION_KEY; older keys may go afterwards`;

const commands: Record<string, (argument: string | undefined, option: string | undefined) => Promise<void>> = {
  async list() {
    const accounts = await listAccounts();
    if (accounts.length === 0) return say("There are no accounts yet. Start Spoor: it prints the setup link.");
    const width = Math.max(...accounts.map(({ email }) => email.length));
    for (const { role, email, name, createdAt } of accounts) {
      say(`${role.padEnd(6)}  ${email.padEnd(width)}  ${createdAt.toISOString().slice(0, 10)}  ${name}`);
    }
  },

  async invite(argument) {
    const owner = await findOwner();
    if (!owner) throw new EnvError("There are no accounts yet. Start Spoor: it prints the setup link.");
    const link = await invite(owner, argument === undefined ? null : address(argument), operator);
    say(`This link creates one account and is valid for 7 days:\n  ${link}`);
  },

  async "reset-password"(argument, option) {
    const email = address(argument);
    if (option !== undefined && option !== "--keep-tokens")
      throw new UsageError(`Unknown option ${option}.\n\n${help}`);
    const keepTokens = option !== undefined;
    const password = randomBytes(12).toString("base64url");
    if (!(await resetPassword(email, password, operator, { keepTokens }))) {
      throw new EnvError(`No account has the address ${email}.`);
    }
    say(
      `The new password of ${email} is\n  ${password}\nThe account is signed out everywhere, and its second factor is off.`,
    );
    say(keepTokens ? "Its tokens stay valid." : "Its tokens are revoked: each machine must log in again.");
  },

  async prices(model, day) {
    if (model === undefined) throw new UsageError(`A model is required.\n\n${help}`);
    await takePriceList();
    for (const line of priceTable(model, day)) say(line);
  },

  async reprice(option) {
    if (option !== undefined && option !== "--status") throw new UsageError(`Unknown option ${option}.\n\n${help}`);
    ownPrices(); // a wrong PRICES_FILE is reported here rather than in a worker's log
    if (option === undefined) await requestReaccounting();
    const { outdated, all } = await countOutdated();
    if (outdated === 0) return say(`All ${all} sessions have been counted at the latest prices.`);
    say(`Workers still have to recount ${outdated} of ${all} sessions.`);
    say(`How many are left: ${operatorCommand("admin", "reprice --status")}`);
    if (option === undefined) say("Workers read PRICES_FILE when they start: restart them first if it has changed.");
  },

  "rotate-keys": rotate,
};

async function rotate(): Promise<void> {
  if (!seals()) throw new EnvError("ENCRYPTION_KEY is not set.");
  const { sealed, left, unreadable } = await rotateKeys();
  say(`${sealed} uploads and pictures were encrypted with the first key.`);
  if (unreadable > 0)
    say(`${unreadable} can't be read, because they were changed or their key is lost. The log lists them.`);
  if (left > 0) say(`${left} objects of the store are older than the first key and unencrypted until they expire.`);
}

function address(argument: string | undefined): string {
  const parsed = z.email().safeParse(argument);
  if (!parsed.success) throw new UsageError(`An email address is required.\n\n${help}`);
  return parsed.data;
}

/** @param connect is not called for a wrong command */
export async function runAdmin(words: string[], connect: (work: () => Promise<void>) => Promise<void>): Promise<void> {
  const [name = "help", argument, option] = words;
  if (name === "help" || name === "--help") return say(help);
  const command = commands[name];
  if (!command) throw new UsageError(`Unknown command "${name}".\n\n${help}`);
  await connect(() => command(argument, option));
}
