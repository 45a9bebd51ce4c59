import "server-only";
import { createHmac, timingSafeEqual } from "node:crypto";
import { requiredEnv } from "#lib/env";

const mac = (signInId: string, subject: string) =>
  createHmac("sha256", requiredEnv("AUTH_SECRET")).update(`ticket:${signInId}:${subject}`).digest();

/**
 * Proves that a form was rendered for this sign-in and this subject (the id of a device login): a form that was rendered for
 * another person, or another login, is refused.
 */
export function makeTicket(signInId: string, subject: string): string {
  return mac(signInId, subject).toString("base64url");
}

/** Whether a ticket belongs to a sign-in and a subject. */
export function isTicket(ticket: unknown, signInId: string, subject: string): boolean {
  const given = Buffer.from(typeof ticket === "string" ? ticket : "", "base64url");
  const expected = mac(signInId, subject);
  return given.length === expected.length && timingSafeEqual(given, expected);
}
