import "server-only";
import { createHash, timingSafeEqual } from "node:crypto";
import { notFound, SpoorError } from "#lib/errors";

const digest = (text: string) => createHash("sha256").update(text).digest();

/**
 * For routes that the operator opens to a program of theirs by a secret in the environment.
 *
 * @param secret undefined where the operator set none: the route is not there then.
 * @throws SpoorError `not_found`, `missing_token`, `invalid_token`
 */
export function requireSecret(request: Request, secret: string | undefined): void {
  if (secret === undefined) throw notFound();
  const authorization = request.headers.get("authorization");
  if (authorization === null) throw new SpoorError("missing_token", "Send the secret: Authorization: Bearer <secret>.");
  const given = /^bearer +(.*)$/i.exec(authorization)?.[1] ?? "";
  // Of equal length whatever was sent, so that the time tells nothing.
  if (timingSafeEqual(digest(given), digest(secret))) return;
  throw new SpoorError("invalid_token", "The secret is not this server's.");
}
