import "server-only";
import { createHmac, timingSafeEqual } from "node:crypto";
import { requiredEnv } from "#lib/env";

const mac = (sessionId: string, subject: string) =>
  createHmac("sha256", requiredEnv("AUTH_SECRET")).update(`ticket:${sessionId}:${subject}`).digest();

/**
 * A form's proof that it was made for this session and this subject (a device login's id, say): a form that was made
 * for another person's session, or another login, is worth nothing.
 */
export function makeTicket(sessionId: string, subject: string): string {
  return mac(sessionId, subject).toString("base64url");
}

/** Whether a ticket is the one of a session and a subject. */
export function isTicket(ticket: unknown, sessionId: string, subject: string): boolean {
  const given = Buffer.from(typeof ticket === "string" ? ticket : "", "base64url");
  const wanted = mac(sessionId, subject);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
