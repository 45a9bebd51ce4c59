// A form that is sent twice, as by a double click, creates one token, invitation or link, and shows it both times.
import "server-only";
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { lockForm } from "#lib/auth/sql";
import { sha256 } from "#lib/core/digest";
import { requiredEnv } from "#lib/core/env";
import type { Db } from "#lib/db/client";

/** `id` is random, and with other `fields` the form creates something else. */
export type SentForm = { id: string; fields: unknown };

/**
 * Call it in the transaction that creates.
 * @param isOpen undefined for an unknown hash; something that was ended is created again with another text
 * @returns `isNew` if it has to be created
 */
export async function makeSecretOnce(
  tx: Db,
  userId: string,
  form: SentForm | undefined,
  toText: (bytes: Buffer) => string,
  isOpen: (hash: Buffer<ArrayBuffer>) => Promise<boolean | undefined>,
): Promise<{ text: string; isNew: boolean }> {
  const random = () => ({ text: toText(randomBytes(32)), isNew: true });
  if (!form) return random();
  await lockForm(tx, userId, form.id);
  const key = createHmac("sha256", requiredEnv("AUTH_SECRET"));
  const text = toText(key.update(JSON.stringify(["form", userId, form.id, form.fields])).digest());
  const open = await isOpen(sha256(text));
  return open === false ? random() : { text, isNew: open === undefined };
}

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
