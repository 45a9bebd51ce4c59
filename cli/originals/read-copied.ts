import { CommandError } from "../errors.ts";
import type { Api } from "../server/api.ts";
import { getPart } from "./client.ts";
import { decodePart, type HeadFile, hashBytes } from "./format.ts";

/** @throws CommandError if a part is missing or damaged */
export async function* readCopied(
  api: Api,
  { path, parts }: Pick<HeadFile, "path" | "parts">,
  secret: string,
): AsyncGenerator<Uint8Array> {
  for (const { sha256, bytes } of parts) {
    const sealed = await getPart(api, sha256);
    if (!sealed) throw new CommandError("failed", `The server lacks parts of ${path}.`);
    if (hashBytes(sealed) !== sha256) throw new CommandError("failed", `The server returned wrong bytes for ${path}.`);
    const plain = await decodePart(sealed, secret);
    if (plain.length !== bytes) throw new CommandError("failed", `The copy of ${path} is damaged.`);
    yield plain;
  }
}
