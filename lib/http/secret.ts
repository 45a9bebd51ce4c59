import "server-only";
import { timingSafeEqual } from "node:crypto";
import { sha256 } from "#lib/digest";
import { notFound, SpoorError } from "#lib/errors";

/**
 * Authorizes a program of the operator's by a secret of the environment. No query is made.
 *
 * @param secret undefined where the operator set none: the route answers as a missing one then.
 * @throws SpoorError `not_found`, `missing_token` without a bearer, `invalid_token`
 */
export function requireSecret(request: Request, secret: string | undefined): void {
  if (secret === undefined) throw notFound();
  const [, given] = /^bearer +(.*)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
  if (given === undefined) throw new SpoorError("missing_token", "Send the secret: Authorization: Bearer <secret>.");
  // Digests have equal lengths, so the comparison takes the same time whatever was sent.
  if (timingSafeEqual(sha256(given), sha256(secret))) return;
  throw new SpoorError("invalid_token", "The secret is not this server's.");
}
