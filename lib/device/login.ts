import "server-only";
import { createHash, createHmac, randomBytes, randomInt } from "node:crypto";
import type { z } from "zod";
import { type Origin, recordEvent } from "#lib/auth/audit";
import { createToken } from "#lib/auth/tokens";
import { pool, transaction } from "#lib/db/client";
import { normalizeUserCode, type pollResponse, type startResponse, userCodeLetters } from "#lib/device/schema";
import { env, requiredEnv } from "#lib/env";
import { SpoorError } from "#lib/errors";
import { networkOf } from "#lib/http/address";
import { overLimit, uncount } from "#lib/http/rate-limit";
import { limits } from "#lib/limits";

const { device } = limits;

const hashOfDeviceCode = (code: string) => createHash("sha256").update(code).digest();

/** Eight letters are few enough to try all of them against a plain hash, so the user code's hash is keyed. */
const hashOfUserCode = (code: string) =>
  createHmac("sha256", requiredEnv("AUTH_SECRET")).update(`user-code:${code}`).digest();

const randomUserCode = () =>
  Array.from({ length: 8 }, () => userCodeLetters[randomInt(userCodeLetters.length)]).join("");

/**
 * Starts a device login (RFC 8628, section 3.2). The URIs come from `BASE_URL` alone.
 *
 * @throws SpoorError `rate_limited` past 20 starts in ten minutes from one address.
 */
export async function startLogin(machine: string, from: Origin): Promise<z.input<typeof startResponse>> {
  const wait = await overLimit("device-start", networkOf(from.address), {
    points: device.startsPer10MinutesPerIp,
    seconds: 600,
  });
  if (wait)
    throw new SpoorError("rate_limited", "Too many logins were started from this address.", {
      retryAfterSeconds: wait,
    });
  const deviceCode = randomBytes(32).toString("base64url");
  for (;;) {
    const userCode = randomUserCode();
    const { rows } = await pool().query<{ expiresAt: Date }>(
      `insert into device_login (device_code_hash, user_code_hash, machine, ip_address, user_agent, interval_seconds, expires_at)
       values ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => $7))
       on conflict (user_code_hash) do nothing returning expires_at as "expiresAt"`,
      [
        hashOfDeviceCode(deviceCode),
        hashOfUserCode(userCode),
        machine,
        from.address,
        from.userAgent?.slice(0, 256) ?? null,
        device.intervalSeconds,
        device.expiresInSeconds,
      ],
    );
    const [row] = rows;
    if (!row) continue; // the code is taken: one chance in 25 billion for each open login
    const shown = `${userCode.slice(0, 4)}-${userCode.slice(4)}`;
    const verificationUri = `${env().BASE_URL}/device`;
    return {
      ok: true,
      deviceCode,
      userCode: shown,
      verificationUri,
      verificationUriComplete: `${verificationUri}?code=${shown}`,
      expiresIn: device.expiresInSeconds,
      expiresAt: row.expiresAt.toISOString(),
      interval: device.intervalSeconds,
    };
  }
}

type Poll = z.input<typeof pollResponse>;
type LoginState = { id: string; status: string; expired: boolean; redeemable: boolean };

/**
 * One poll of a waiting client (RFC 8628, section 3.4). The first one after the approval makes the token and gets it.
 *
 * @throws SpoorError `slow_down`, `invalid_grant`, `access_denied`, `already_consumed`, `expired_token`.
 */
export async function pollLogin(deviceCode: string, from: Origin): Promise<Poll> {
  const hash = hashOfDeviceCode(deviceCode);
  await refusePollFlood(hash.toString("base64url"), from.address);
  const { rows } = await pool().query<LoginState>(
    `select id, status, expires_at <= now() as expired,
            greatest(expires_at, decided_at + make_interval(secs => $2)) > now() as redeemable
     from device_login where device_code_hash = $1`,
    [hash, device.graceSeconds],
  );
  const [login] = rows;
  if (!login) throw new SpoorError("invalid_grant", "This device code is not known. Start the login again.");
  if (login.status === "denied") throw new SpoorError("access_denied", "The login was denied in the browser.");
  if (login.status === "redeemed") throw new SpoorError("already_consumed", "This device code was used already.");
  if (login.status === "approved" && login.redeemable) return redeem(login.id, from);
  if (login.expired) throw new SpoorError("expired_token", "The login expired. Start it again.");
  return notePoll(login.id);
}

async function refusePollFlood(code: string, address: string): Promise<void> {
  const waits = await Promise.all([
    overLimit("device-poll-ip", networkOf(address), { points: device.pollsPerMinutePerIp, seconds: 60 }),
    overLimit("device-poll-code", code, { points: device.pollsPerMinutePerCode, seconds: 60 }),
  ]);
  const wait = Math.max(...waits.map((seconds) => seconds ?? 0));
  if (wait > 0) throw new SpoorError("slow_down", "Too many polls; wait before the next.", { retryAfterSeconds: wait });
}

/** Takes an approved login: who changes its one row makes the token, in the same transaction. */
async function redeem(loginId: string, from: Origin): Promise<Poll> {
  return transaction(async (tx) => {
    const { rows } = await tx.query<{ userId: string; machine: string }>(
      `update device_login set status = 'redeemed' where id = $1 and status = 'approved'
       returning user_id as "userId", machine`,
      [loginId],
    );
    const [login] = rows;
    if (!login) throw new SpoorError("already_consumed", "This device code was used already.");
    const { token, id, expiresAt } = await createToken(tx, login.userId, login.machine);
    await tx.query("update device_login set token_id = $2 where id = $1", [loginId, id]);
    await recordEvent(tx, login.userId, "token_created", login.machine, from);
    const { rows: users } = await tx.query<{ name: string; email: string }>(
      `select name, email from "user" where id = $1`,
      [login.userId],
    );
    const [user] = users;
    if (!user) throw new SpoorError("access_denied", "The account that approved this login is gone.");
    return {
      ok: true,
      status: "approved",
      token,
      tokenType: "Bearer",
      userId: login.userId,
      user,
      machine: login.machine,
      expiresAt: expiresAt.toISOString(),
    };
  });
}

/** Notes a poll of a pending login; one that came before its interval was over makes the interval longer. */
async function notePoll(loginId: string): Promise<Poll> {
  const { rows } = await pool().query<{ interval: number; expiresIn: number; tooFast: boolean }>(
    `update device_login login set last_polled_at = now(),
       interval_seconds = case when before.too_fast then least(login.interval_seconds + 5, $2) else login.interval_seconds end
     from (select id, coalesce(last_polled_at > now() - make_interval(secs => interval_seconds - 1), false) as too_fast
           from device_login where id = $1 for update) before
     where login.id = before.id
     returning interval_seconds as interval, before.too_fast as "tooFast",
       greatest(0, ceil(extract(epoch from login.expires_at - now())))::int as "expiresIn"`,
    [loginId, device.maxIntervalSeconds],
  );
  const [row] = rows;
  if (!row) throw new SpoorError("invalid_grant", "This device code is not known. Start the login again.");
  const { interval, expiresIn, tooFast } = row;
  return { ok: true, status: "pending", interval, expiresIn, ...(tooFast ? { slowDown: true as const } : {}) };
}

/** What the approval page shows of a login. */
export type LoginRequest = {
  id: string;
  userCode: string;
  machine: string;
  address: string;
  userAgent: string | null;
  startedAt: Date;
  status: "pending" | "approved" | "denied" | "redeemed" | "expired";
};

/**
 * The login behind a typed user code, or undefined where there is none. Call it for signed-in people only.
 *
 * @throws SpoorError `rate_limited` past ten wrong codes in ten minutes by one person.
 */
export async function findLogin(userId: string, typed: string): Promise<LoginRequest | undefined> {
  const window = { points: device.codeTriesPer10Minutes, seconds: 600 };
  const wait = await overLimit("device-code", userId, window);
  if (wait) throw new SpoorError("rate_limited", "Too many codes were tried.", { retryAfterSeconds: wait });
  const code = normalizeUserCode(typed);
  if (!code) return undefined;
  const { rows } = await pool().query<Omit<LoginRequest, "userCode">>(
    `select id, machine, ip_address as address, user_agent as "userAgent", created_at as "startedAt",
            case when status = 'pending' and expires_at <= now() then 'expired' else status end as status
     from device_login where user_code_hash = $1`,
    [hashOfUserCode(code)],
  );
  const [login] = rows;
  if (!login) return undefined;
  await uncount("device-code", userId, window);
  return { ...login, userCode: `${code.slice(0, 4)}-${code.slice(4)}` };
}

/**
 * Approves or denies a pending login for a user. Of any number of decisions at once one counts.
 *
 * @returns whether this one did.
 */
export async function decideLogin(
  userId: string,
  loginId: string,
  decision: "approved" | "denied",
  from: Origin,
): Promise<boolean> {
  return transaction(async (tx) => {
    const { rows } = await tx.query<{ machine: string }>(
      `update device_login set status = $3, user_id = $1, decided_at = now()
       where id = $2 and status = 'pending' and expires_at > now() returning machine`,
      [userId, loginId, decision],
    );
    const [decided] = rows;
    if (decided) await recordEvent(tx, userId, `login_${decision}`, decided.machine, from);
    return decided !== undefined;
  });
}

/** Removes logins that expired more than a day ago. @returns how many */
export async function purgeLogins(): Promise<number> {
  const { rowCount } = await pool().query("delete from device_login where expires_at < now() - interval '24 hours'");
  return rowCount ?? 0;
}
