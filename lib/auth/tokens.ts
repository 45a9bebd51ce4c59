import "server-only";
import { createHash, randomInt } from "node:crypto";
import { crc32 } from "node:zlib";
import { type Origin, recordEvent } from "#lib/auth/audit";
import { coalesce } from "#lib/coalesce";
import { pool, type Queryable, transaction } from "#lib/db/client";
import { SpoorError } from "#lib/errors";
import { limits } from "#lib/limits";

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const randomDigits = 30;
const form = /^spoor_([0-9A-Za-z]{30})([0-9A-Za-z]{6})$/;

export type CliToken = { id: string; userId: string; machine: string; createdAt: Date; expiresAt: Date };

/** A new token: `spoor_`, 30 random base62 digits (178 bits), and 6 more that are their CRC-32. */
function makeTokenText(): string {
  const random = Array.from({ length: randomDigits }, () => digits[randomInt(digits.length)]).join("");
  return `spoor_${random}${checksum(random)}`;
}

/** The CRC-32 of a token's random part in six base62 digits, most significant first. */
function checksum(random: string): string {
  let rest = crc32(random);
  let text = "";
  for (let place = 0; place < 6; place += 1) {
    text = digits[rest % digits.length] + text;
    rest = Math.floor(rest / digits.length);
  }
  return text;
}

function hashOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

/** Whether a text has a token's form and its checksum is right; wrong ones are refused without a query. */
export function isTokenText(text: string): boolean {
  const [, random, check] = form.exec(text) ?? [];
  return random !== undefined && checksum(random) === check;
}

/**
 * Makes a token for a user's machine. Its text leaves the server in this one answer; the table keeps its SHA-256.
 * Call it inside the transaction that decides whether there is to be a token.
 */
export async function createToken(
  tx: Queryable,
  userId: string,
  machine: string,
): Promise<CliToken & { token: string }> {
  const token = makeTokenText();
  const { rows } = await tx.query<CliToken>(
    `insert into cli_token (user_id, hash, machine, expires_at)
     values ($1, $2, $3, now() + make_interval(days => $4))
     returning id, user_id as "userId", machine, created_at as "createdAt", expires_at as "expiresAt"`,
    [userId, hashOf(token), machine, limits.device.tokenDays],
  );
  const [row] = rows;
  if (!row) throw new Error("inserting a token returned no row");
  return { ...row, token };
}

/**
 * The valid token of an `Authorization` header.
 *
 * @param address where the call came from, noted as the token's last use (at most once a minute).
 * @throws SpoorError `missing_token` without a bearer, `invalid_token` for an unknown, expired or revoked one alike.
 */
export async function requireBearer(authorization: string | null, address: string): Promise<CliToken> {
  const [, text] = /^bearer +(.*)$/i.exec(authorization ?? "") ?? [];
  if (text === undefined) throw new SpoorError("missing_token", "Send a token: Authorization: Bearer <token>.");
  if (!isTokenText(text)) throw invalidToken();
  const row = await findToken(hashOf(text));
  if (!row) throw invalidToken();
  const { stale, ...token } = row;
  if (stale) await noteUse(token, address);
  return token;
}

type FoundToken = CliToken & { stale: boolean };

/** The valid token of a hash. Those that are asked for at the same time are looked up in one query. */
const findToken = coalesce<Buffer, FoundToken | undefined>(
  async (group) => {
    const { rows } = await pool().query<FoundToken & { hash: string }>(
      `select encode(hash, 'hex') as hash, id, user_id as "userId", machine, created_at as "createdAt",
              expires_at as "expiresAt", coalesce(last_used_at < now() - interval '1 minute', true) as stale
       from cli_token where hash = any($1::bytea[]) and revoked_at is null and expires_at > now()`,
      [group.map(({ item }) => item)],
    );
    const found = new Map(rows.map(({ hash, ...token }) => [hash, token]));
    for (const { item, resolve } of group) resolve(found.get(item.toString("hex")));
  },
  { maxGroup: 100, maxInFlight: 2 },
);

async function noteUse(token: CliToken, address: string): Promise<void> {
  await pool().query(
    `update cli_token set last_used_at = now(), last_used_ip = $3
     where user_id = $1 and id = $2 and coalesce(last_used_at < now() - interval '1 minute', true)`,
    [token.userId, token.id, address],
  );
}

/** A token as its owner sees it. */
export type ListedToken = CliToken & { lastUsedAt: Date | null; lastUsedAddress: string | null };

/** A user's valid tokens, newest first. */
export async function listTokens(userId: string): Promise<ListedToken[]> {
  const { rows } = await pool().query<ListedToken>(
    `select id, user_id as "userId", machine, created_at as "createdAt", expires_at as "expiresAt",
            last_used_at as "lastUsedAt", last_used_ip as "lastUsedAddress"
     from cli_token where user_id = $1 and revoked_at is null and expires_at > now() order by created_at desc, id`,
    [userId],
  );
  return rows;
}

/** Makes a token for a machine without a browser. @returns its text, which nobody can see again */
export async function createTokenByHand(userId: string, machine: string, from: Origin): Promise<string> {
  return transaction(async (tx) => {
    const { token } = await createToken(tx, userId, machine);
    await recordEvent(tx, userId, "token_created", machine, from);
    return token;
  });
}

/**
 * Ends one of a user's tokens, or all of them but one.
 *
 * @param which the token's id, or `{ except }` with the id that is to stay (none stays for an id of nothing).
 * @returns the machines whose tokens ended.
 */
export async function revokeTokens(
  userId: string,
  which: string | { except: string },
  from: Origin,
): Promise<string[]> {
  const [condition, id] = typeof which === "string" ? ["id = $2", which] : ["id <> $2", which.except];
  return transaction((tx) => endTokens(tx, userId, condition, [id], from));
}

/**
 * Takes back what lets a user's machines in, in the transaction of what makes that necessary: logins that were approved and
 * not yet fetched, and the tokens. The logins first: one that is being fetched right now is waited for, and its token seen.
 */
export async function shutOutMachines(
  tx: Queryable,
  userId: string,
  { keepTokens }: { keepTokens: boolean },
  from: Origin,
): Promise<void> {
  const logins = await tx.query<{ machine: string }>(
    "update device_login set status = 'denied' where user_id = $1 and status = 'approved' returning machine",
    [userId],
  );
  for (const { machine } of logins.rows) await recordEvent(tx, userId, "login_denied", machine, from);
  if (!keepTokens) await endTokens(tx, userId, "true", [], from);
}

/** Ends all of a user's tokens, and logins that were approved and not yet fetched, as the user asked. */
export async function logOutMachines(userId: string, from: Origin): Promise<void> {
  await transaction((tx) => shutOutMachines(tx, userId, { keepTokens: false }, from));
}

async function endTokens(
  tx: Queryable,
  userId: string,
  condition: string,
  values: string[],
  from: Origin,
): Promise<string[]> {
  const { rows } = await tx.query<{ machine: string }>(
    `update cli_token set revoked_at = now()
     where user_id = $1 and ${condition} and revoked_at is null and expires_at > now() returning machine`,
    [userId, ...values],
  );
  for (const { machine } of rows) await recordEvent(tx, userId, "token_revoked", machine, from);
  return rows.map(({ machine }) => machine);
}

const invalidToken = () => new SpoorError("invalid_token", "The token is not valid. Log in again.");
