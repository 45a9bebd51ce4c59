import "server-only";
import { createHmac, timingSafeEqual } from "node:crypto";
import { requiredEnv } from "#lib/env";

const mac = (signInId: string, subject: string) =>
  createHmac("sha256", requiredEnv("AUTH_SECRET")).update(`ticket:${signInId}:${subject}`).digest();

/** A form is only accepted for the sign-in and the device login that it was rendered for. */
export function makeTicket(signInId: string, subject: string): string {
  return mac(signInId, subject).toString("base64url");
}

export function isTicket(ticket: unknown, signInId: string, subject: string): boolean {
  const given = Buffer.from(typeof ticket === "string" ? ticket : "", "base64url");
  const expected = mac(signInId, subject);
  return given.length === expected.length && timingSafeEqual(given, expected);
}
