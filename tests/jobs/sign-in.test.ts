import { isAPIError } from "better-auth/api";
import { hashPassword as hashEarlier } from "better-auth/crypto";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { resetPassword } from "#lib/auth/accounts";
import { operator } from "#lib/auth/audit";
import { auth } from "#lib/auth/auth";
import { answerAuth } from "#lib/auth/http";
import { hashPassword, inTurn } from "#lib/auth/passwords/hashing";
import { accountKey } from "#lib/auth/sign-in/guesses";
import { extendKnownBrowser, findKnownBrowser } from "#lib/auth/sign-in/known-browser";
import { FairQueue } from "#lib/core/concurrency/fair-queue";
import { setEnv } from "#lib/core/env";
import { limits } from "#lib/core/limits";
import { pool } from "#lib/db/client";
import { clientAddressHeader, trustClientAddressHeader } from "#lib/http/address";
import { housekeep } from "#server/background/housekeeping";
import { getCookies } from "../support/form.ts";
import { waitingForLocks } from "../support/meanwhile.ts";
import { owner, provideOwner } from "../support/server.ts";

const { userId } = await provideOwner();
setEnv({ AUTH_RATE_LIMIT: "on" });
trustClientAddressHeader();
beforeEach(() => pool().query("delete from rate_limit"));

const from = (address: string, Cookie = "") => new Headers({ [clientAddressHeader]: address, Cookie });
/** A hook's refusal is thrown where it is called directly; over HTTP it is a response. */
const refused = (error: unknown) => {
  if (isAPIError(error)) return new Response(null, { status: error.statusCode, headers: new Headers(error.headers) });
  throw error;
};
const signIn = (headers: Headers, password = owner.password, more: object = {}) =>
  auth()
    .api.signInEmail({ body: { email: owner.email, password, ...more }, headers, asResponse: true })
    .catch(refused);
/** Wrong answers that were counted earlier. */
const count = (key: string, points: number) =>
  pool().query("insert into rate_limit values ($1, $2, $3) on conflict (key) do update set points = $2", [
    key,
    points,
    Date.now() + 3_600_000,
  ]);
const atOnce = async (many: number, call: () => Promise<Response>) =>
  (await Promise.all(Array.from({ length: many }, call))).map(({ status }) => status);
const times = (count: number, status: number) => Array<number>(count).fill(status);

describe("wrong passwords", () => {
  test("count, and right ones do not, however many are tried at once", async () => {
    const right = () => signIn(from("192.0.2.1"));
    for (let n = 0; n < 6; n += 1) expect(await atOnce(2, right)).toEqual(times(2, 200));
    const wrong = () => signIn(from("192.0.2.1"), "wrong password");
    // So few at a time that none waits too long for its hash; of the last four two are refused before.
    for (let n = 0; n < 4; n += 1) expect(await atOnce(2, wrong)).toEqual(times(2, 401));
    expect((await atOnce(4, wrong)).toSorted()).toEqual([401, 401, 429, 429]);
    expect((await right()).status).toBe(429);
  });

  test("of one /48 do not shut other networks out", async () => {
    const { wrongPerDayPerSiteAndAccount: points } = limits.signIn;
    await count(`sign-in-site:2001:db8:1::/48:${accountKey(owner.email)}`, points);
    expect((await signIn(from("2001:db8:1:77::1"), "wrong password")).status).toBe(429);
    expect((await signIn(from("2001:db8:2::1"), "wrong password")).status).toBe(401);
    expect((await signIn(from("192.0.2.48"), "wrong password")).status).toBe(401);
  });

  test("of one /64 count as one network's", async () => {
    const seen = [];
    for (let n = 1; n <= 11; n += 1) {
      seen.push((await signIn(from(`2001:db8:1:2::${n}`), "wrong password")).status);
    }
    expect(seen).toEqual([...times(10, 401), 429]);
    expect((await signIn(from("2001:db8:1:3::1"))).status).toBe(200);
  });

  test("of one network for many accounts end after sixty in an hour", async () => {
    const guess = (n: number) => signIn(from("192.0.2.2"), "wrong password", { email: `nobody-${n}@example.org` });
    await count("sign-in-network:192.0.2.2", limits.signIn.wrongPerHourPerNetwork - 1);
    expect([(await guess(1)).status, (await guess(2)).status]).toEqual([401, 429]);
  });

  test("of many networks for one account shut out networks that it never signed in from, and no other", async () => {
    await signIn(from("192.0.2.3"));
    const points = limits.signIn.wrongPerDayPerAccountFromUnknownNetworks;
    await count(`sign-in-everywhere:${accountKey(owner.email)}`, points);
    const answer = await signIn(from("192.0.2.4"));
    expect(answer.status).toBe(429);
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(3000);
    expect((await signIn(from("192.0.2.3"))).status).toBe(200);
  });
});

test("an address that a client sends itself is not believed where another server than ours runs Next", async () => {
  const call = () =>
    answerAuth(
      new Request("http://localhost:3000/api/auth/get-session", { headers: from("192.0.2.66") }),
      "get-session",
    );
  trustClientAddressHeader(false);
  expect(await atOnce(101, call)).toEqual(times(101, 200));
  trustClientAddressHeader();
  expect((await atOnce(101, call)).toSorted()).toEqual([...times(100, 200), 429]);
});

describe("a browser that an account signed in with", () => {
  const cookieIn = (response: Response) => /known_browser=([^;]+)/.exec(getCookies(response))?.[1] ?? null;

  test("is known by its cookie, for this account and for no other", async () => {
    const cookie = cookieIn(await signIn(from("192.0.2.5")));
    expect(await findKnownBrowser(cookie, owner.email)).toBe(cookie?.slice(0, 22));
    expect(await findKnownBrowser(cookie, "nobody@example.org")).toBeUndefined();
    for (const wrong of [null, "", "x", cookie?.slice(0, 22), `${"A".repeat(22)}${cookie?.slice(22)}`] as string[]) {
      expect(await findKnownBrowser(wrong, owner.email)).toBeUndefined();
    }
  });

  test("is asked for by an address that is a text, and by nothing else", async () => {
    const cookie = `authlib.known_browser=${"A".repeat(22)}.${"B".repeat(43)}`;
    expect((await signIn(from("192.0.2.5", cookie), "x", { email: ["\0"] })).status).toBe(400);
  });

  test("keeps its id and five accounts at most", async () => {
    const others = Array.from({ length: 7 }, (_, n) => String(n).repeat(43));
    const id = "b".repeat(22);
    const extended = await extendKnownBrowser([id, ...others].join("."), userId);
    expect(extended?.split(".")).toEqual([id, expect.any(String), ...others.slice(0, 4)]);
    expect(await extendKnownBrowser(extended ?? "", userId)).toBe(extended);
  });

  test("is not known any more after the password was changed or reset", async () => {
    const response = await signIn(from("192.0.2.5"));
    const before = cookieIn(response);
    const body = { currentPassword: owner.password, newPassword: "another good password", revokeOtherSessions: true };
    const headers = from("192.0.2.5", getCookies(response));
    const after = cookieIn(await auth().api.changePassword({ body, headers, asResponse: true }));
    expect(await findKnownBrowser(before, owner.email)).toBeUndefined();
    expect(await findKnownBrowser(after, owner.email)).toBe(before?.slice(0, 22));
    await resetPassword(owner.email, owner.password, operator);
    expect(await findKnownBrowser(after, owner.email)).toBeUndefined();
  });
});

describe("a sign-in", () => {
  test("that waits for its hash while the password is changed is refused, and leaves nothing behind", async () => {
    const changed = await hashPassword("a changed password");
    const held = Promise.withResolvers<void>();
    const take = vi.spyOn(FairQueue.prototype, "take");
    onTestFinished(() => take.mockRestore());
    const places = [inTurn(() => held.promise), inTurn(() => held.promise)];
    const waiting = [signIn(from("192.0.2.7")), signIn(from("192.0.2.8"))];
    await expect.poll(() => take.mock.calls.length).toBe(4);
    // What a change or a reset does, in the same order.
    const { rows } = await pool().query(
      "update account set password = $1 from account old where old.id = account.id returning old.password",
      [changed],
    );
    await pool().query("delete from session");
    held.resolve();
    await Promise.all(places);
    const answers = await Promise.all(waiting);
    await pool().query("update account set password = $1", [rows[0].password]);
    expect(answers.map(({ status }) => status)).toEqual([401, 401]);
    expect((await pool().query("select 1 from session")).rowCount).toBe(0);
    expect((await signIn(from("192.0.2.7"))).status).toBe(200);
  });

  test("whose password is being reset waits for the reset, and does not outlive it", async () => {
    const reset = await pool().connect();
    await reset.query("begin");
    await reset.query("update account set password = 'reset' where user_id = $1", [userId]);
    await reset.query("delete from session");
    const answer = signIn(from("192.0.2.7"));
    await expect.poll(waitingForLocks).toBe(1); // it has its session by now
    await reset.query("commit");
    expect((await answer).status).toBe(401);
    expect((await pool().query("select 1 from session")).rowCount).toBe(0);
    await pool().query("update account set password = $1", [await hashPassword(owner.password)]);
    reset.release();
  });

  test("renews a hash of an earlier version, also of several at once, and none with a wrong password", async () => {
    const earlier = await hashEarlier(owner.password);
    await pool().query("update account set password = $1", [earlier]);
    const now = async () => (await pool().query("select password from account")).rows[0].password;
    expect((await signIn(from("192.0.2.10"), "a wrong password")).status).toBe(401);
    expect(await now()).toBe(earlier);
    expect(await atOnce(2, () => signIn(from("192.0.2.10")))).toEqual([200, 200]);
    expect(await now()).toMatch(/^\$scrypt\$ln=15,r=8,p=3\$/);
    expect((await signIn(from("192.0.2.10"))).status).toBe(200);
  });

  const day = 86_400_000;
  const columns =
    "id, extract(epoch from expires_at - now()) / 86400 as days_left, extract(epoch from updated_at) as used";
  const find = async (tail: string, values: string[] = []) => {
    const { rows } = await pool().query(`select ${columns} from session ${tail}`, values);
    return rows[0] as { id: string; days_left: string; used: string };
  };
  const latest = () => find("order by created_at desc limit 1");
  const now = (id: string) => find("where id = $1", [id]);
  const age = (id: string, days: number, used: number) =>
    pool().query(
      `update session set created_at = created_at - make_interval(secs => $2), updated_at = updated_at - make_interval(secs => $3),
       expires_at = expires_at - make_interval(secs => $3) where id = $1`,
      [id, days * 86_400, used * 86_400],
    );
  const read = (headers: Headers) => auth().api.getSession({ headers });

  test("ends after seven days without use, and 30 days after its start", async () => {
    const headers = from("192.0.2.6", getCookies(await signIn(from("192.0.2.6"))));
    const { id, days_left } = await latest();
    expect(Number(days_left)).toBeCloseTo(7, 2);
    await age(id, 6.9, 6.9);
    expect(await read(headers)).not.toBeNull();
    expect(Number((await now(id)).days_left)).toBeCloseTo(7, 2);
    await age(id, 18.1, 0.1);
    expect(await read(headers)).not.toBeNull();
    expect(Number((await now(id)).days_left)).toBeCloseTo(5, 2);
    await age(id, 7.1, 7.1);
    expect(await read(headers)).toBeNull();
    expect((await pool().query("select 1 from session where id = $1", [id])).rowCount).toBe(0);
  });

  test("of an older version, which had thirty days at once, ends after seven days without use as well", async () => {
    const headers = from("192.0.2.6", getCookies(await signIn(from("192.0.2.6"))));
    const { id } = await latest();
    const older = "update session set updated_at = now() - interval '8 days', expires_at = now() + interval '22 days'";
    await pool().query(`${older} where id = $1`, [id]);
    expect(await read(headers)).toBeNull();
  });

  test("is written to once an hour at most", async () => {
    const headers = from("192.0.2.6", getCookies(await signIn(from("192.0.2.6"))));
    const { id, used } = await latest();
    await read(headers);
    expect((await now(id)).used).toBe(used);
    await age(id, 0.05, 0.05);
    await Promise.all([read(headers), read(headers), read(headers)]);
    const moved = (await now(id)).used;
    expect(Number(moved)).toBeGreaterThan(Number(used) - 60);
    await read(headers);
    expect((await now(id)).used).toBe(moved);
  });

  test("in a browser that is not to be remembered ends with it, and after a day without use", async () => {
    const response = await signIn(from("192.0.2.7"), owner.password, { rememberMe: false });
    for (const cookie of response.headers.getSetCookie().filter((one) => !one.includes("known_browser"))) {
      expect(cookie).not.toMatch(/max-age|expires/i);
    }
    expect(Number((await latest()).days_left)).toBeCloseTo(1, 2);
    const headers = from("192.0.2.7", getCookies(response));
    const { id } = await latest();
    await age(id, 0.9, 0.9);
    expect(await read(headers)).not.toBeNull();
    expect(Number((await now(id)).days_left)).toBeCloseTo(1, 2);
    const body = { currentPassword: owner.password, newPassword: owner.password };
    const changed = await auth().api.changePassword({
      body: { ...body, revokeOtherSessions: true },
      headers,
      asResponse: true,
    });
    expect(changed.status).toBe(200);
    expect(Number((await latest()).days_left)).toBeCloseTo(1, 2);
    const after = from("192.0.2.7", getCookies(changed));
    expect(await read(after)).not.toBeNull();
    await age((await latest()).id, 1.1, 1.1);
    expect(await read(after)).toBeNull();
  });

  test("of a browser that is signed in already ends the one before, and no other", async () => {
    await pool().query("delete from session");
    const [first, other] = [await signIn(from("192.0.2.8")), await signIn(from("192.0.2.8"))];
    const second = await signIn(from("192.0.2.8", getCookies(first)));
    expect(await read(from("192.0.2.8", getCookies(first)))).toBeNull();
    for (const kept of [other, second]) expect(await read(from("192.0.2.8", getCookies(kept)))).not.toBeNull();
    expect((await pool().query("select 1 from session")).rowCount).toBe(2);
  });

  test("that is remembered undoes an earlier choice in the same browser", async () => {
    const first = await signIn(from("192.0.2.8"), owner.password, { rememberMe: false });
    const second = await signIn(from("192.0.2.8", getCookies(first)));
    expect(second.headers.getSetCookie()).toContainEqual(expect.stringMatching(/^authlib\.dont_remember=;.*Max-Age=0/));
    expect(Number((await latest()).days_left)).toBeCloseTo(7, 2);
  });

  test("is in the trail when it begins and when it is ended by hand, and its row goes once it is over", async () => {
    const headers = from("192.0.2.9", getCookies(await signIn(from("192.0.2.9"))));
    await auth().api.signOut({ headers });
    const { rows } = await pool().query("select action from audit_event where address = '192.0.2.9' order by id");
    expect(rows).toEqual([{ action: "signed_in" }, { action: "signed_out" }]);
    await pool().query("update session set expires_at = now() - interval '1 ms'");
    await pool().query(
      `insert into verification (id, identifier, value, expires_at) values (gen_random_uuid(), 'x', 'y', $1)`,
      [new Date(Date.now() - day)],
    );
    await housekeep();
    expect((await pool().query("select 1 from session union all select 1 from verification")).rowCount).toBe(0);
  });
});
