import type { Host } from "../adapters/adapter.ts";
import { CommandError } from "../errors.ts";
import { getOriginal } from "../originals/client.ts";
import { decodeHead, type Head, type HeadFile } from "../originals/format.ts";
import { formatFingerprint, getFingerprint, type Identity, readIdentity } from "../originals/keys.ts";
import { readCopied } from "../originals/read-copied.ts";
import { program } from "../program.ts";
import type { Api } from "../server/api.ts";

export type Copy = { head: Head; readFile(file: HeadFile): AsyncIterable<Uint8Array> };

/**
 * @returns undefined if the server has no copy of the session
 * @throws CommandError if this machine lacks the copy's key, or the copy belongs to another session
 */
export async function fetchCopy(
  api: Api,
  host: Host,
  { source, sourceId }: { source: string; sourceId: string },
): Promise<Copy | undefined> {
  const stored = await getOriginal(api, source, sourceId);
  if (!stored) return undefined;
  const identity = await requireIdentity(host, stored.recipient);
  const head = await decodeHead(stored.head, identity.secret);
  if (head.agent !== source || head.sourceId !== sourceId)
    throw new CommandError("failed", "The server returned another session's copy. Nothing was restored.");
  return { head, readFile: (file) => readFile(api, file, identity.secret) };
}

async function requireIdentity(host: Host, recipient: string): Promise<Identity> {
  const identity = await readIdentity(host);
  const wanted = formatFingerprint(getFingerprint(recipient));
  if (!identity)
    throw new CommandError(
      "failed",
      `This machine has no key, so it can't read copies. Import the key ${wanted} with: ${program} originals key import`,
    );
  if (identity.recipient === recipient) return identity;
  const own = formatFingerprint(getFingerprint(identity.recipient));
  throw new CommandError("failed", `The copy needs the key ${wanted}, but this machine has the key ${own}.`);
}

async function* readFile(api: Api, file: HeadFile, secret: string): AsyncGenerator<Uint8Array> {
  try {
    yield* readCopied(api, file, secret);
  } catch (error) {
    throw error instanceof CommandError
      ? new CommandError(error.kind, `${error.message} Nothing was restored.`)
      : error;
  }
}
