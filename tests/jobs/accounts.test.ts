import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createOwner, signUp } from "#lib/auth/accounts";
import { listEvents, operator, recordEvent, recordExport } from "#lib/auth/audit";
import { auth } from "#lib/auth/auth";
import { deleteAccount } from "#lib/auth/deletion";
import { findInvitation, invite, listInvitations, revokeInvitation } from "#lib/auth/invitations";
import { isTicket, makeTicket } from "#lib/auth/sent-forms";
import { accountKey } from "#lib/auth/sign-in/guesses";
import { endSignIns, listSignIns } from "#lib/auth/sign-in/sign-ins";
import { createTokenByHand, listTokens, logOutMachines, requireBearer, revokeToken } from "#lib/auth/tokens";
import { setEnv } from "#lib/core/env";
import { pool, prisma } from "#lib/db/client";
import { decideLogin, findLogin, pollLogin, startLogin } from "#lib/device/login";
import { acceptBatch } from "#lib/ingest/accept/batch";
import { endThreads } from "#lib/ingest/decode/thread-pool";
import { runJob } from "#lib/ingest/process/run-job";
import { recordTelemetry } from "#lib/telemetry/record";
import { telemetryRequest } from "#lib/telemetry/schema";
import { freshDatabase } from "../support/database.ts";
import { findResidue } from "../support/residue.ts";
import { owner, setupToken, someAddress } from "../support/server.ts";

let database: Awaited<ReturnType<typeof freshDatabase>>;
let ownerId: string;
const here = { address: "192.0.2.7", userAgent: "a test" };
const password = "another good password";

beforeAll(async () => {
  database = await freshDatabase();
  setEnv({ SETUP_TOKEN: setupToken, SIGN_UP: "invitation" });
  await createOwner(setupToken, owner, here);
  ownerId = await findId(owner.email);
});
afterAll(async () => {
  await endThreads();
  await database.drop();
});

async function findId(email: string): Promise<string> {
  const { rows } = await pool().query<{ id: string }>(`select id from "user" where email = $1`, [email]);
  return rows[0]?.id ?? "";
}

const getToken = (link: string) => new URL(link).searchParams.get("invitation") ?? "";
const newInvitation = async (email: string | null = null) => getToken(await invite(ownerId, email, here));

async function member(email: string): Promise<string> {
  await signUp({ name: "Bob", email, password }, await newInvitation(), here);
  return findId(email);
}

async function startedLogin() {
  const { deviceCode, userCode } = await startLogin("laptop", { ...here, address: someAddress() });
  const login = await findLogin(ownerId, userCode);
  return { deviceCode, id: login?.id ?? "" };
}

const refusal = (code: string) => expect.objectContaining({ code });
const actions = async (userId: string) => (await listEvents(userId, { limit: 100 })).map(({ action }) => action);

describe("a device login", () => {
  test("of many concurrent approvals and denials exactly one takes effect, and each caller learns whether it was theirs", async () => {
    const other = await member("racer@example.org");
    for (let round = 0; round < 10; round += 1) {
      const { deviceCode, id } = await startedLogin();
      const outcomes = await Promise.all([
        decideLogin(ownerId, id, "approved", here),
        decideLogin(other, id, "approved", here),
        decideLogin(ownerId, id, "denied", here),
        decideLogin(other, id, "denied", here),
      ]);
      expect(outcomes.filter(Boolean)).toHaveLength(1);
      const winner = outcomes.indexOf(true);
      const polled = await pollLogin(deviceCode, here).catch((error: { code: string }) => error.code);
      if (winner >= 2) expect(polled).toBe("access_denied");
      else expect(polled).toMatchObject({ userId: winner === 0 ? ownerId : other });
    }
  });

  test("approved by a user whose account is deleted before the poll gives no token", async () => {
    const leaver = await member("leaver@example.org");
    const { deviceCode, id } = await startedLogin();
    expect(await decideLogin(leaver, id, "approved", here)).toBe(true);
    await deleteAccount(leaver);
    await expect(pollLogin(deviceCode, here)).rejects.toThrow(refusal("invalid_grant"));
    expect((await pool().query("select 1 from cli_token where user_id = $1", [leaver])).rowCount).toBe(0);
  });

  test("that has expired can't be approved", async () => {
    const { id } = await startedLogin();
    await pool().query("update device_login set expires_at = now() where id = $1", [id]);
    expect(await decideLogin(ownerId, id, "approved", here)).toBe(false);
  });

  test("ten wrong codes block the person who tries them; right ones do not count", async () => {
    const guesser = await member("guesser@example.org");
    const { userCode } = await startLogin("laptop", { ...here, address: someAddress() });
    for (let look = 0; look < 15; look += 1) expect(await findLogin(guesser, userCode)).toBeDefined();
    for (let wrong = 0; wrong < 10; wrong += 1) expect(await findLogin(guesser, "BCDF-GHJK")).toBeUndefined();
    await expect(findLogin(guesser, userCode)).rejects.toThrow(refusal("rate_limited"));
  });

  test("a form's ticket is valid for its own sign-in and its own login only", () => {
    const ticket = makeTicket("sign-in-1", "login-1");
    expect(isTicket(ticket, "sign-in-1", "login-1")).toBe(true);
    expect(isTicket(ticket, "sign-in-2", "login-1")).toBe(false);
    expect(isTicket(ticket, "sign-in-1", "login-2")).toBe(false);
    for (const wrong of [undefined, "", "x", `${ticket}x`]) expect(isTicket(wrong, "sign-in-1", "login-1")).toBe(false);
  });
});

describe("an invitation", () => {
  const account = (n: number) => ({ name: "Guest", email: `guest-${n}-${Math.random()}@example.org`, password });

  test("creates one account, however many use it at once", async () => {
    const token = await newInvitation();
    const tries = await Promise.allSettled(Array.from({ length: 8 }, (_, n) => signUp(account(n), token, here)));
    expect(tries.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await findInvitation(token)).toBeUndefined();
    expect((await listInvitations(ownerId))[0]).toMatchObject({ state: "used" });
  });

  test("that is revoked, expired or made up creates none", async () => {
    const revoked = await newInvitation("someone@example.org");
    const [listed] = await listInvitations(ownerId);
    expect(await revokeInvitation(ownerId, listed?.id ?? "", here)).toBe(true);
    expect(await revokeInvitation(ownerId, listed?.id ?? "", here)).toBe(false);
    const expired = await newInvitation();
    await pool().query("update invitation set expires_at = now() where used_at is null and revoked_at is null");
    for (const token of [revoked, expired, "made-up", ""]) {
      expect(await findInvitation(token)).toBeUndefined();
      await expect(signUp(account(0), token, here)).rejects.toThrow(refusal("access_denied"));
    }
    await expect(signUp(account(0), undefined, here)).rejects.toThrow(refusal("access_denied"));
  });

  test("is valid for 7 days and kept as a hash only", async () => {
    const token = await newInvitation();
    const { rows } = await pool().query(
      "select invitation::text as text, extract(day from expires_at - created_at)::int as days from invitation",
    );
    expect(rows.map(({ text }) => text).join()).not.toContain(token);
    expect(rows.every(({ days }) => days <= 7)).toBe(true);
  });

  test("stays open where the address has an account already", async () => {
    const token = await newInvitation();
    await expect(signUp({ ...account(0), email: owner.email.toUpperCase() }, token, here)).rejects.toThrow(
      expect.objectContaining({ errors: [expect.objectContaining({ path: "email" })] }),
    );
    expect(await findInvitation(token)).toBeDefined();
  });

  test("of another user can't be revoked", async () => {
    const stranger = await member("stranger@example.org");
    await newInvitation();
    const [listed] = await listInvitations(ownerId);
    expect(await revokeInvitation(stranger, listed?.id ?? "", here)).toBe(false);
  });
});

describe("tokens and sign-ins", () => {
  test("a token created by hand opens the API, and revoking another one leaves it valid", async () => {
    const user = await member("machines@example.org");
    const kept = await createTokenByHand(user, "server", here);
    const gone = await createTokenByHand(user, "laptop", here);
    const { id } = await requireBearer(`Bearer ${gone}`, here.address);
    expect(await revokeToken(user, id, here)).toBe(true);
    expect(await revokeToken(user, id, here)).toBe(false);
    await requireBearer(`Bearer ${kept}`, here.address);
    await expect(requireBearer(`Bearer ${gone}`, here.address)).rejects.toThrow(refusal("invalid_token"));
    expect(await listTokens(user)).toMatchObject([{ machine: "server", lastUsedIp: here.address }]);
    expect(await actions(user)).toEqual(["token_revoked", "token_created", "token_created", "account_created"]);
  });

  test("nobody can revoke another user's token", async () => {
    const [one, two] = [await member("one@example.org"), await member("two@example.org")];
    const token = await createTokenByHand(one, "mine", here);
    const [listed] = await listTokens(one);
    expect(await revokeToken(two, listed?.id ?? "", here)).toBe(false);
    await logOutMachines(two, here);
    expect(await requireBearer(`Bearer ${token}`, here.address)).toMatchObject({ userId: one });
  });

  test("sign-ins and failed sign-ins are in the trail; other browsers can be signed out", async () => {
    const user = await member("visitor@example.org");
    const signIn = (word: string) =>
      auth().api.signInEmail({ body: { email: "visitor@example.org", password: word }, headers: new Headers() });
    await signIn(password);
    await signIn(password);
    await expect(signIn("wrong password")).rejects.toThrow();
    expect((await actions(user)).slice(0, 3)).toEqual(["sign_in_failed", "signed_in", "signed_in"]);
    const [first, second] = await listSignIns(user);
    expect(await endSignIns(user, { except: first?.id ?? "" }, here)).toBe(1);
    expect((await listEvents(user, { limit: 1 }))[0]).toMatchObject({ action: "other_sessions_revoked", subject: "1" });
    expect((await listSignIns(user)).map(({ id }) => id)).toEqual([first?.id]);
    expect(await endSignIns(ownerId, first?.id ?? "", here)).toBe(0);
    expect(second).toBeDefined();
  });
});

describe("the audit trail", () => {
  test("can't be changed or deleted", async () => {
    await recordEvent(prisma(), ownerId, "name_changed", null, here);
    await expect(pool().query("update audit_event set action = 'x'")).rejects.toThrow(/append-only/);
    await expect(pool().query("delete from audit_event")).rejects.toThrow(/append-only/);
  });

  test("takes sixty exports a minute at most, and none that only asks for the headers", async () => {
    const user = await member("exporter@example.org");
    const send = (method: string) =>
      recordExport(new Request("http://localhost/", { method }), user, "traces_exported", "all");
    await send("HEAD");
    for (let n = 0; n < 65; n += 1) await send("GET");
    const events = await listEvents(user, { limit: 100, actions: ["traces_exported"] });
    expect(events).toHaveLength(60);
  });

  test("is read by its own user only, newest first, page by page", async () => {
    const user = await member("reader@example.org");
    for (let n = 0; n < 5; n += 1) await recordEvent(prisma(), user, "trace_deleted", String(n), here);
    const first = await listEvents(user, { limit: 3 });
    const rest = await listEvents(user, { limit: 10, before: first.at(-1)?.id });
    expect([...first, ...rest].map(({ subject }) => subject)).toEqual(["4", "3", "2", "1", "0", null]);
    expect(first[0]).toMatchObject(here);
  });
});

describe("deleting an account", () => {
  const tablesWith = async (mark: string) => (await findResidue([mark])).map(({ table }) => table);

  test("leaves nothing of the user in any table, and everything of other users", async () => {
    const email = "erased-person@example.org";
    const user = await member(email);
    await invite(user, "friend-of-erased@example.org", here);
    await pool().query("update invitation set email = $1 where user_id = $2 and used_at is null", [email, ownerId]);
    await auth().api.signInEmail({ body: { email, password }, headers: new Headers() });
    const token = await createTokenByHand(user, "erased-machine", here);
    await requireBearer(`Bearer ${token}`, here.address);
    await findLogin(user, "BCDF-GHJK");
    const { id } = await startedLogin();
    await decideLogin(user, id, "approved", here);
    const marker = "erased-content-7f3a";
    const batch = { traces: [{ sourceId: marker, title: marker, messages: [{ position: 0, content: marker }] }] };
    const send = () =>
      acceptBatch(
        { userId: user, machine: "erased-machine" },
        Buffer.from(JSON.stringify(batch)),
        "identity",
        undefined,
      );
    await runJob({ userId: user, jobId: await send() });
    await send(); // still waiting in the queue
    const report = { schema: 1, deviceId: "erased-device", cliVersion: "1", platform: "p", arch: "a", command: "scan" };
    const diagnostics = [{ adapter: "erased-adapter" }];
    await recordTelemetry(telemetryRequest.parse({ ...report, diagnostics }), {
      userId: user,
      machine: "erased-machine",
    });

    const marks = [user, email, marker, "erased-machine", "erased-device", "erased-adapter"];
    for (const mark of marks) expect(await tablesWith(mark), mark).not.toEqual([]);

    await deleteAccount(user);
    for (const mark of marks) expect(await tablesWith(mark), mark).toEqual([]);
    expect(await findId(owner.email)).toBe(ownerId);
    expect((await listEvents(ownerId, { limit: 1 })).length).toBe(1);
  });

  test("deletes the rate-limit counters of its address, and of no other", async () => {
    const user = await member("da@example.org");
    const keys = [owner.email, "da@example.org"].map((email) => `sign-in-account:192.0.2.7:${accountKey(email)}`);
    await pool().query("delete from rate_limit");
    await pool().query("insert into rate_limit (key, points) select *, 30 from unnest($1::text[])", [keys]);
    await deleteAccount(user);
    expect((await pool().query("select key from rate_limit")).rows).toEqual([{ key: keys[0] }]);
  });

  test("of the owner makes the oldest other account the owner", async () => {
    const { rows } = await pool().query<{ id: string }>(
      `select id from "user" where role = 'member' order by created_at, id limit 1`,
    );
    await deleteAccount(ownerId);
    const heirs = await pool().query<{ id: string }>(`select id from "user" where role = 'owner'`);
    expect(heirs.rows).toEqual([{ id: rows[0]?.id }]);
    const [newest] = await listEvents(rows[0]?.id ?? "", { limit: 1 });
    expect(newest).toMatchObject({ action: "became_owner", address: operator.address });
  });
});
