import { randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";
import { hashPassword } from "better-auth/crypto";
import type pg from "pg";
import { sha256 } from "#lib/core/digest";

/**
 * Creates an account with a token, by statements that are valid in every version's schema.
 *
 * @returns the token
 */
export async function createAccount(db: pg.Client, email: string, password?: string): Promise<string> {
  const { rows } = await db.query<{ id: string }>(
    `insert into "user" (name, email, role) values ('Ada', $1, 'owner') returning id`,
    [email],
  );
  const id = rows[0]?.id;
  if (password) {
    const values = [id, id, await hashPassword(password)];
    await db.query(
      "insert into account (user_id, account_id, provider_id, password) values ($1, $2, 'credential', $3)",
      values,
    );
  }
  const random = randomBytes(15).toString("hex");
  const token = `spoor_${random}${inBase62(crc32(random))}`;
  await db.query(
    "insert into cli_token (user_id, hash, machine, expires_at) values ($1, $2, 'test', now() + interval '1 day')",
    [id, sha256(token)],
  );
  return token;
}

function inBase62(value: number): string {
  const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  return [5, 4, 3, 2, 1, 0].map((place) => digits[Math.floor(value / 62 ** place) % 62]).join("");
}
