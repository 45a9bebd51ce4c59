import "server-only";
import { timingSafeEqual } from "node:crypto";
import { sha256 } from "#lib/core/digest";
import { notFound, SpoorError } from "#lib/core/errors";

/** @throws SpoorError `not_found` if the operator set none; `missing_token`, `invalid_token` */
export function requireSecret(request: Request, secret: string | undefined): void {
  if (secret === undefined) throw notFound();
  const [, given] = /^bearer +(.*)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
  if (given === undefined) throw new SpoorError("missing_token", "Send the secret: Authorization: Bearer <secret>.");
  // Digests have equal lengths.
  if (timingSafeEqual(sha256(given), sha256(secret))) return;
  throw new SpoorError("invalid_token", "The secret is not this server's.");
}
