import { readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Context } from "../context.ts";
import { CommandError, exitCodes } from "../errors.ts";
import {
  formatPhrase,
  type Identity,
  isRecipient,
  keyPath,
  openSealedIdentity,
  parseKeyFile,
  parsePhrase,
  pinRecipient,
  readIdentity,
  readRecipient,
  recipientPath,
  sealIdentity,
  writeIdentity,
} from "../originals/keys.ts";
import { putAside, showFingerprint, splitPhrase } from "../originals/set-up.ts";
import { program } from "../program.ts";
import { foldHome } from "../projects/rules.ts";
import { styled } from "../terminal/terminal.ts";

const minPassphraseChars = 10;

const verbs: Record<string, (context: Context) => Promise<void>> = { show, export: exportKey, import: importKey };

export async function originalsKey(context: Context): Promise<number> {
  const [verb = "show", ...words] = context.words;
  const run = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
  const usage = `originals key expects show, export [FILE] or import [FILE], not "${[verb, ...words].join(" ")}".`;
  if (!run || words.length > (run === show ? 0 : 1)) {
    throw new CommandError("usage", `${usage} See: ${program} originals --help`);
  }
  await run({ ...context, words });
  return exitCodes.done;
}

async function show({ host, terminal }: Context): Promise<void> {
  const [recipient, identity] = [await readRecipient(host), await readIdentity(host)];
  if (recipient === undefined) {
    throw new CommandError(
      "failed",
      `This machine has no key for exact copies. Set one up with: ${program} originals on`,
    );
  }
  const path = foldHome(identity ? keyPath(host) : recipientPath(host), host);
  terminal.say("Fingerprint  ", styled("bold", showFingerprint(recipient)));
  terminal.say(`Public key   ${recipient}`);
  terminal.say(
    `File         ${path}, ${identity ? "with the secret key" : "without the secret key: this machine can't decrypt copies"}`,
  );
  terminal.json({ recipient, fingerprint: showFingerprint(recipient), canRead: identity !== undefined, path });
}

async function exportKey(context: Context): Promise<void> {
  const { host, terminal, words } = context;
  const identity = await readIdentity(host);
  if (!identity) throw new CommandError("failed", "This machine does not have the secret key, so it can't export it.");
  const [name] = words;
  const fingerprint = showFingerprint(identity.recipient);
  if (name === undefined) {
    for (const line of splitPhrase(formatPhrase(identity))) terminal.say(line);
    terminal.json({ phrase: formatPhrase(identity), recipient: identity.recipient, fingerprint });
    return;
  }
  const path = resolve(host.cwd, name);
  const passphrase = await readNewPassphrase(context);
  const sealed = await sealIdentity(identity, passphrase);
  await writeFile(path, sealed, { flag: "wx", mode: 0o600 }).catch((error) => {
    const reason = error.code === "EEXIST" ? "it already exists" : error.message;
    throw new CommandError("failed", `Can't write ${path}: ${reason}.`);
  });
  terminal.say(
    styled("green", "✓"),
    ` The key ${fingerprint} is in ${foldHome(path, host)}, encrypted with the passphrase.`,
  );
  terminal.say(`Import it on another machine with: ${program} originals key import FILE. \`age -d\` decrypts it, too.`);
  terminal.json({ path, recipient: identity.recipient, fingerprint });
}

async function readNewPassphrase({ terminal, signal }: Context): Promise<string> {
  if (!terminal.canAsk) return checkPassphrase((await terminal.readGiven()).split(/\r?\n/)[0] ?? "");
  const first = (await terminal.askText("Passphrase for the file:", signal, true)) ?? "";
  checkPassphrase(first);
  if ((await terminal.askText("Repeat the passphrase:", signal, true)) === first) return first;
  throw new CommandError("failed", "The passphrases do not match. Nothing was written.");
}

/** Whoever has the file can try passphrases as fast as they like. */
function checkPassphrase(passphrase: string): string {
  if ([...passphrase].length >= minPassphraseChars) return passphrase;
  throw new CommandError(
    "usage",
    `The passphrase must have at least ${minPassphraseChars} characters. Nothing was written.`,
  );
}

async function importKey(context: Context): Promise<void> {
  const { host, terminal, words } = context;
  const [given] = words;
  if (given !== undefined && isRecipient(given)) {
    await putAside(context, given);
    await pinRecipient(host, given);
    terminal.say(
      styled("green", "✓"),
      ` This machine encrypts copies to the key ${showFingerprint(given)} from now on.`,
    );
    terminal.json({ recipient: given, fingerprint: showFingerprint(given), canRead: false });
    return;
  }
  const identity = given === undefined ? await readPhrase(context) : await readKeyFile(context, given);
  await putAside(context, identity.recipient);
  await writeIdentity(host, identity);
  const fingerprint = showFingerprint(identity.recipient);
  terminal.say(
    styled("green", "✓"),
    ` The key ${fingerprint} is now on this machine, which can add and decrypt copies.`,
  );
  terminal.json({ recipient: identity.recipient, fingerprint, canRead: true });
}

async function readPhrase({ terminal, signal }: Context): Promise<Identity> {
  const text = terminal.canAsk
    ? ((await terminal.askText("Recovery phrase:", signal, true)) ?? "")
    : await terminal.readGiven();
  const identity = (await parsePhrase(text)) ?? (await parseKeyFile(text));
  if (identity) return identity;
  throw new CommandError("failed", "The recovery phrase is not valid. Nothing was changed.");
}

async function readKeyFile({ host, terminal, signal }: Context, name: string): Promise<Identity> {
  const path = resolve(host.cwd, name);
  const bytes = await readFile(path).catch((error) => {
    throw new CommandError("failed", `Can't read ${path}: ${error.message}.`);
  });
  const plain = await parseKeyFile(bytes.toString());
  if (plain) return plain;
  const passphrase = terminal.canAsk
    ? ((await terminal.askText("Passphrase of the file:", signal, true)) ?? "")
    : ((await terminal.readGiven()).split(/\r?\n/)[0] ?? "");
  const identity = await openSealedIdentity(bytes, passphrase);
  if (identity) return identity;
  throw new CommandError("failed", `The passphrase is wrong, or ${path} does not contain a key. Nothing was changed.`);
}
