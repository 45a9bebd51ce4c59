import { rename } from "node:fs/promises";
import { type Context, commandHint } from "../context.ts";
import { CommandError } from "../errors.ts";
import { program } from "../program.ts";
import { foldHome } from "../projects/rules.ts";
import type { Api } from "../server/api.ts";
import { styled } from "../terminal/terminal.ts";
import { fetchRecipient, putKey } from "./client.ts";
import {
  createIdentity,
  formatFingerprint,
  formatPhrase,
  getFingerprint,
  type Identity,
  isRecipient,
  keyPath,
  parsePhrase,
  pinRecipient,
  readIdentity,
  readRecipient,
  writeIdentity,
} from "./keys.ts";
import { checkKey } from "./send.ts";

const maxTries = 3;

export const showFingerprint = (recipient: string): string => formatFingerprint(getFingerprint(recipient));

/**
 * Creates the account's key, or trusts the one that another machine created.
 *
 * @param isNewKey replaces the account's key
 * @returns the recipient
 * @throws CommandError if the user declines, or as `checkKey`
 */
export async function setUpKey(context: Context, api: Api, isNewKey = false): Promise<string> {
  const known = await fetchRecipient(api);
  if (isNewKey) return makeKey(context, api, known);
  const trusted = await readRecipient(context.host);
  if (trusted !== undefined) {
    await checkKey(api, trusted);
    return trusted;
  }
  return known === undefined ? makeKey(context, api, undefined) : trust(context, known);
}

async function trust(context: Context, recipient: string): Promise<string> {
  const { host, terminal, signal, values } = context;
  if (!isRecipient(recipient)) throw new CommandError("failed", "The server sent an invalid key for exact copies.");
  const fingerprint = showFingerprint(recipient);
  terminal.say("Another machine created this account's key for exact copies:");
  terminal.say();
  terminal.say("  Fingerprint  ", styled("bold", fingerprint));
  terminal.say("  Public key   ", styled("bold", recipient));
  terminal.say();
  terminal.say(
    `Compare both with the output of \`${program} originals key show\` on that machine, because the server could send a different key, even one with this fingerprint.`,
  );
  if (values.yes !== true) {
    requireTerminal(context);
    if (!(await terminal.ask("Do both match?", signal)))
      throw new CommandError("failed", "The key was not trusted, so exact copies stay off.");
  }
  await pinRecipient(host, recipient);
  terminal.say("This machine can add copies. To decrypt copies on this machine, too, move the secret key:");
  terminal.say(`  on the other machine: ${program} originals key export; on this one: ${program} originals key import`);
  return recipient;
}

function requireTerminal(context: Context): void {
  if (context.terminal.canAsk) return;
  const hint = commandHint(context, "originals on --yes");
  throw new CommandError("usage", `There is no terminal to answer questions. Continue without them with: ${hint}`);
}

async function makeKey(context: Context, api: Api, replaced: string | undefined): Promise<string> {
  const { host, values } = context;
  if (values.yes !== true) requireTerminal(context);
  const identity = await createIdentity();
  await confirmPhrase(context, identity, replaced);
  await putAside(context, identity.recipient);
  await writeIdentity(host, identity);
  if (await putKey(api, identity.recipient, replaced && getFingerprint(replaced))) return identity.recipient;
  await rename(keyPath(host), `${keyPath(host)}.unused`);
  throw new CommandError(
    "failed",
    "Another machine created a key at the same time. Run the command again to use that key.",
  );
}

/** A key is renamed, never deleted, because older copies may need it. */
export async function putAside({ host, terminal }: Context, recipient: string): Promise<void> {
  const identity = await readIdentity(host);
  if (!identity || identity.recipient === recipient) return;
  const path = `${keyPath(host)}.${getFingerprint(identity.recipient)}`;
  await rename(keyPath(host), path);
  terminal.say(`The previous key was moved to ${foldHome(path, host)}.`);
}

async function confirmPhrase(context: Context, identity: Identity, replaced: string | undefined): Promise<void> {
  const { host, terminal, signal, values } = context;
  terminal.say("This is the recovery phrase for your exact copies:");
  terminal.say();
  for (const line of splitPhrase(formatPhrase(identity))) terminal.say("  ", styled("bold", line));
  terminal.say();
  terminal.say(
    `Write it down, or store it in a password manager. The key is also stored in ${foldHome(keyPath(host), host)}.`,
  );
  terminal.say(styled("bold", "If you lose both, nobody can decrypt the copies, not even the server's operator."));
  if (replaced !== undefined)
    terminal.say(`Copies made with the old key (${showFingerprint(replaced)}) can only be decrypted with the old key.`);
  if (values.yes === true) return;
  for (let tries = 0; tries < maxTries; tries++) {
    const given = await terminal.askText("Type or paste the phrase to confirm that you saved it:", signal);
    if (given === undefined) break;
    if ((await parsePhrase(given))?.secret === identity.secret) return;
    terminal.warn("That is not the recovery phrase.");
  }
  throw new CommandError("failed", "The phrase was not confirmed, so no key was created.");
}

const groupsPerLine = 6;

export function splitPhrase(phrase: string): string[] {
  const groups = phrase.split(" ");
  return Array.from({ length: Math.ceil(groups.length / groupsPerLine) }, (_, line) =>
    groups.slice(line * groupsPerLine, (line + 1) * groupsPerLine).join(" "),
  );
}
