import { SpoorError } from "#lib/core/errors";

/**
 * Also accepts weak entity tags (RFC 9110, section 13.1), because some proxies weaken them.
 *
 * @returns the version that the client has seen; undefined for none
 */
export function readCondition(headers: Headers): string | undefined {
  if (headers.get("if-none-match")?.trim() === "*") return undefined;
  const [, seen] = /^(?:W\/)?"([\w-]{1,64})"$/.exec(headers.get("if-match")?.trim() ?? "") ?? [];
  if (seen === undefined) throw new SpoorError("precondition_required");
  return seen;
}
