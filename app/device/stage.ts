import "server-only";
import type { SignedInUser } from "#lib/auth/guards";
import { isTicket, makeTicket } from "#lib/auth/ticket";

/**
 * How a signed-in person reached a login:
 * - `near`: with its code, from the login's network
 * - `linked`: by a link from another network, so the code must be typed to approve
 * - `typed`: from another network, with the code typed
 */
export type Stage = "near" | "linked" | "typed";

const stages = ["near", "linked", "typed"] as const;

type Person = Pick<SignedInUser, "signInId">;

const stageSubject = (stage: Stage, loginId: string) => `${stage}:${loginId}`;

/** Proves the stage in the form or the address of an approval page. */
export const stageTicket = ({ signInId }: Person, stage: Stage, loginId: string): string =>
  makeTicket(signInId, stageSubject(stage, loginId));

/** Undefined for a ticket of another sign-in or login, or a forged one. */
export const readStage = ({ signInId }: Person, loginId: string, ticket: unknown): Stage | undefined =>
  stages.find((stage) => isTicket(ticket, signInId, stageSubject(stage, loginId)));

/** A person on another network must not be able to copy the code from the address. */
export const codelessHref = (person: Person, stage: Exclude<Stage, "near">, loginId: string): string =>
  `/device?login=${loginId}&ticket=${stageTicket(person, stage, loginId)}`;
