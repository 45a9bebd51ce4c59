import "server-only";
import { redirect } from "next/navigation";
import type { SignedInUser } from "#lib/auth/guards";
import { isTicket, makeTicket } from "#lib/auth/sent-forms";
import { SpoorError } from "#lib/core/errors";
import { findLogin } from "#lib/device/login";
import { clientAddress, getNetwork } from "#lib/http/address";

/**
 * A signed-in person reached a login:
 * - `near`: with its code, from the login's network
 * - `linked`: by a link from another network, so the code must be typed to approve
 * - `typed`: from another network, with the code typed
 */
export type Stage = "near" | "linked" | "typed";

const stages = ["near", "linked", "typed"] as const;

type Person = Pick<SignedInUser, "signInId">;

const stageSubject = (stage: Stage, loginId: string) => `${stage}:${loginId}`;

export const stageTicket = ({ signInId }: Person, stage: Stage, loginId: string): string =>
  makeTicket(signInId, stageSubject(stage, loginId));

/** Undefined for a ticket of another sign-in or login, or a forged one. */
export const readStage = ({ signInId }: Person, loginId: string, ticket: unknown): Stage | undefined =>
  stages.find((stage) => isTicket(ticket, signInId, stageSubject(stage, loginId)));

/** A person on another network must not be able to copy the code. */
export const codelessHref = (person: Person, stage: Exclude<Stage, "near">, loginId: string): string =>
  `/device?login=${loginId}&ticket=${stageTicket(person, stage, loginId)}`;

const loopback = /^(127(\.\d{1,3}){3}|::1)$/;

/** Uncertain cases count as different, so that the code has to be typed. */
export function isSameNetwork(startedFrom: string, requestHeaders: Headers): boolean {
  const address = clientAddress(requestHeaders);
  if (startedFrom === "unknown" || address === "unknown" || isProxyAddress(address, requestHeaders)) return false;
  return getNetwork(startedFrom) === getNetwork(address) || (loopback.test(startedFrom) && loopback.test(address));
}

/** An unknown proxy's address could be anybody's. Next adds the header if there is none. */
function isProxyAddress(address: string, requestHeaders: Headers): boolean {
  const forwarded = requestHeaders.get("x-forwarded-for");
  return forwarded !== null && !forwarded.split(",").some((one) => plain(one) === address);
}

/** Removes an IPv6 prefix of IPv4 and a zone. */
const plain = (address: string) =>
  address
    .trim()
    .replace(/^::ffff:/, "")
    .replace(/%.*$/, "");

export async function lookUp(userId: string, code: string): ReturnType<typeof findLogin> {
  try {
    return await findLogin(userId, code);
  } catch (error) {
    if (!(error instanceof SpoorError) || error.code !== "rate_limited") throw error;
    redirect("/device?done=limited");
  }
}
