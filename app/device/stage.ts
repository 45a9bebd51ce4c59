import "server-only";
import type { SignedInUser } from "#lib/auth/guards";
import { isTicket, makeTicket } from "#lib/auth/ticket";

/**
 * How a signed-in person came to a login:
 * - `near`: by its code, in a link or typed, from the network that the login was started on;
 * - `linked`: by a link, from another network. To approve, the code has to be typed: a link proves nothing;
 * - `typed`: from another network, and they have typed the code.
 */
export type Stage = "near" | "linked" | "typed";

const stages = ["near", "linked", "typed"] as const;

type Person = Pick<SignedInUser, "signInId">;

const stageSubject = (stage: Stage, loginId: string) => `${stage}:${loginId}`;

/** Proves, in the form or the address of an approval page, how the person of a sign-in came to a login. */
export const stageTicket = ({ signInId }: Person, stage: Stage, loginId: string): string =>
  makeTicket(signInId, stageSubject(stage, loginId));

/** The stage that a ticket proves; undefined for one of another sign-in or login, or a made-up one. */
export const readStage = ({ signInId }: Person, loginId: string, ticket: unknown): Stage | undefined =>
  stages.find((stage) => isTicket(ticket, signInId, stageSubject(stage, loginId)));

/** The approval page's address without the code, which a person on another network must not be able to copy from it. */
export const codelessHref = (person: Person, stage: Exclude<Stage, "near">, loginId: string): string =>
  `/device?login=${loginId}&ticket=${stageTicket(person, stage, loginId)}`;
