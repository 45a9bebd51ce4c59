import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { auth } from "#lib/auth/auth";
import { invite } from "#lib/auth/invitations";
import { getCookies, readForm, sendForm } from "../support/form.ts";
import { bestOfThree } from "../support/pulse.ts";
import { get, makeUser, owner, post, provideServer, setupToken, someAddress } from "../support/server.ts";
import { totp } from "../support/totp.ts";

const server = await provideServer({ worker: false, environment: { AUTH_RATE_LIMIT: "on" } });

type Sent = Record<string, string>;
const signIn = (password: string, from: string, headers: Sent = {}, email = owner.email) =>
  post(
    server,
    "/api/auth/sign-in/email",
    { email, password },
    { Origin: server.url, "X-Forwarded-For": from, ...headers },
  );

/** How many answers have each status. */
const getStatuses = (answers: Response[]) =>
  Object.fromEntries([...Map.groupBy(answers, ({ status }) => status)].map(([status, of]) => [status, of.length]));

/** How long 99 of 100 calls of health took, asked one after another until `isOver`, in ms. */
async function healthUntil(isOver: (calls: number) => boolean): Promise<number> {
  const times: number[] = [];
  while (!isOver(times.length)) {
    const asked = performance.now();
    await (await get(server, "/api/health")).arrayBuffer();
    times.push(performance.now() - asked);
  }
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0;
}

/** What happened, and health's p99 before and meanwhile. Where the machine itself is busy, health may take longer too. */
async function withHealth<T>(work: () => Promise<T>) {
  const before = await healthUntil((calls) => calls === 100);
  const started = performance.now();
  let running = true;
  const ended = work().finally(() => {
    running = false;
  });
  const meanwhile = await healthUntil((calls) => !running && calls > 0);
  const result = await ended;
  const took = performance.now() - started;
  const figure = `in ${took.toFixed(0)} ms; health's p99 ${meanwhile.toFixed(0)} ms, before ${before.toFixed(0)} ms`;
  return { result, figure, meanwhile, allowed: Math.max(100, 10 * before) };
}

const sixty = Array.from({ length: 60 }, (_, n) => n);
const account = { name: "Eve", email: "eve@example.org", password: "a password of eve's" };

/** Sixty forms at once, each with another token. */
async function sendSixty(path: string, fields: Sent, name: string) {
  const toText = async (token: string) =>
    (await sendForm(server, path, { ...fields, ...account, [name]: token })).text();
  await toText("the first one loads the page's code");
  const outcome = await withHealth(() => Promise.all(sixty.map((n) => toText(`made up ${n}`))));
  for (const text of outcome.result) expect(text).toContain("no longer valid");
  return outcome;
}

test(
  "sixty made-up set-up tokens at once are refused without a hash, and health answers within 100 ms",
  bestOfThree,
  async ({ annotate }) => {
    const fields = await readForm(server, `/setup?token=${encodeURIComponent(setupToken)}`);
    const { figure, meanwhile, allowed } = await sendSixty("/setup", fields, "token");
    await annotate(`60 set-up tokens refused ${figure}`);
    expect(meanwhile).toBeLessThanOrEqual(allowed);
  },
);

/** The owner, from the first test that is not about the set-up on; a retry finds them there. */
let ownerId: string | undefined;

test(
  "sixty made-up invitations at once are refused without a hash, and health answers within 100 ms",
  bestOfThree,
  async ({ annotate }) => {
    ownerId ??= await makeUser();
    const link = new URL(await invite(ownerId, null, operator));
    const fields = await readForm(server, link.pathname + link.search);
    const { figure, meanwhile, allowed } = await sendSixty("/sign-up", fields, "invitation");
    await annotate(`60 invitations refused ${figure}`);
    expect(meanwhile).toBeLessThanOrEqual(allowed);
  },
);

test(
  "forty wrong passwords at once wait for two hashes, and health answers within 100 ms",
  bestOfThree,
  async ({ annotate }) => {
    const guess = (n: number) => signIn("wrong password", someAddress(), {}, `nobody-${n}@example.org`);
    const { result, figure, meanwhile, allowed } = await withHealth(() => Promise.all(sixty.slice(20).map(guess)));
    const statuses = getStatuses(result);
    await annotate(`40 wrong passwords: ${JSON.stringify(statuses)} ${figure}`);
    expect((statuses[401] ?? 0) + (statuses[503] ?? 0)).toBe(40);
    for (const { status, headers } of result) if (status === 503) expect(headers.get("retry-after")).toBe("2");
    expect(meanwhile).toBeLessThanOrEqual(allowed);
  },
);

test("a network whose passwords wait for their hashes delays no other by more than one", async ({ annotate }) => {
  const timed = async () => {
    const started = performance.now();
    const { status } = await signIn(owner.password, someAddress());
    return { status, took: performance.now() - started };
  };
  const alone = await timed();
  const network = someAddress();
  const crowd = sixty.slice(20).map((n) => signIn("wrong password", network, {}, `crowd-${n}@example.org`));
  await setTimeout(100);
  const beside = await timed();
  const statuses = JSON.stringify(getStatuses(await Promise.all(crowd)));
  const [one, other] = [alone, beside].map(({ took }) => took.toFixed(0));
  await annotate(`beside 40 of one network, ${statuses}, another signs in in ${other} ms, alone in ${one} ms`);
  // Where the machine itself takes most of the two seconds for a hash, the next one may be too late.
  if (alone.took < 700) expect(beside.status).toBe(200);
});

test("the owner signs in during 99 guesses: from the same network with a browser used before, and from another", async ({
  annotate,
}) => {
  const network = someAddress();
  const first = await signIn(owner.password, network);
  const cookies = getCookies(first);
  const known = cookies.split("; ").find((pair) => !pair.includes("session_token")) ?? "";
  expect(known).not.toBe("");
  const answers: Response[] = [];
  for (let n = 0; n < 99; n += 2) {
    const pair = [n, n + 1].filter((k) => k < 99).map((k) => signIn(`guess ${k}`, network));
    answers.push(...(await Promise.all(pair))); // no more than are hashed at once
  }
  await annotate(`99 guesses: ${JSON.stringify(getStatuses(answers))}`);
  expect(getStatuses(answers)).toEqual({ 401: 10, 429: 89 });
  for (const { status, headers } of answers) {
    if (status === 429) expect(Number(headers.get("retry-after"))).toBeGreaterThan(3000);
  }
  // Not even with the right password, or it would be told.
  expect((await signIn(owner.password, network)).status).toBe(429);
  expect((await signIn(owner.password, network, { Cookie: known })).status).toBe(200);
  expect((await signIn(owner.password, someAddress())).status).toBe(200);
  // Another account's browser, and one with a changed letter, are like any other.
  const forged = known.replace(/.$/, (last) => (last === "A" ? "E" : "A"));
  expect((await signIn(owner.password, network, { Cookie: forged })).status).toBe(429);
  const guesses: Response[] = [];
  for (let n = 0; n < 12; n += 1) guesses.push(await signIn("wrong password", network, { Cookie: known }));
  expect(getStatuses(guesses)).toEqual({ 401: 10, 429: 2 });
});

const open = new Set([
  "POST /sign-in/email",
  "POST /sign-in/social",
  "POST /sign-out",
  "GET /get-session",
  "POST /two-factor/verify-totp",
  "POST /two-factor/verify-backup-code",
  "GET /callback/:id",
  "POST /callback/:id",
]);

test("every other route of better-auth is closed, those that confirm a password among them", async ({ annotate }) => {
  const Cookie = getCookies(await signIn(owner.password, someAddress()));
  const endpoints = Object.values(auth().api) as { path?: string; options: { method?: string | string[] } }[];
  const routes = endpoints.flatMap(({ path, options }) =>
    path ? [options.method ?? "POST"].flat().map((method) => `${method === "*" ? "POST" : method} ${path}`) : [],
  );
  const closed = [...new Set(routes)].filter((one) => !open.has(one));
  const call = (method: string, path: string) =>
    fetch(`${server.url}/api/auth${path.replace(/:\w+/g, "x")}`, {
      method,
      headers: { "Content-Type": "application/json", Origin: server.url, Cookie },
      ...(method === "GET" ? {} : { body: JSON.stringify({ password: owner.password }) }),
    });
  for (const one of [...closed, "POST /verify%2dpassword/", "POST /sign-in/../verify-password", "GET /callback/x"]) {
    const [method = "", path = ""] = one.split(" ");
    const { status, headers } = await call(method, path);
    expect([one, status, headers.get("content-type"), headers.get("cache-control")]).toEqual([
      one,
      404,
      "application/problem+json",
      "no-store",
    ]);
  }
  for (const path of ["/verify-password", "/change-password", "/two-factor/enable"]) {
    expect(closed).toContain(`POST ${path}`);
  }
  await annotate(`${closed.length} routes closed, ${open.size} open`);
});

const away = ["/..//evil.example", "/.//evil.example/a", "/%2e%2e//evil.example", "/traces/..//evil.example"];
const more = ["//evil.example", "/\\evil.example", "/%5cevil.example", "/\t/evil.example", "https://evil.example"];

/** Where a browser goes that follows a redirect. */
const getTarget = (response: Response) => new URL(response.headers.get("location") ?? "none:", server.url);

test("no path leads away after signing in, nor after the second factor", async ({ annotate }) => {
  const from = someAddress();
  const headers = { "X-Forwarded-For": from };
  const fields = { ...(await readForm(server, "/sign-in")), email: owner.email, password: owner.password };
  for (const next of [...away, ...more]) {
    const response = await sendForm(server, "/sign-in", { ...fields, next }, headers);
    expect([next, response.status, getTarget(response).origin]).toEqual([next, 303, server.url]);
    expect(getTarget(response).pathname).toBe("/traces");
  }
  for (const callbackURL of [...away, ...more]) {
    const body = { email: owner.email, password: owner.password, callbackURL };
    const { status } = await post(server, "/api/auth/sign-in/email", body, { Origin: server.url, ...headers });
    expect([callbackURL, status]).toEqual([callbackURL, 403]);
  }
  const codes = await switchSecondFactorOn(from);
  for (const next of away) {
    const first = await sendForm(server, "/sign-in", { ...fields, next }, headers);
    expect(getTarget(first).pathname).toBe("/sign-in/second-factor");
    const Cookie = getCookies(first);
    const step = "/sign-in/second-factor?recovery=1";
    const second = { ...(await readForm(server, step, { Cookie })), recovery_code: codes.pop() ?? "", next };
    const response = await sendForm(server, step, second, { ...headers, Cookie });
    expect([next, response.status, getTarget(response).href]).toEqual([next, 303, `${server.url}/traces`]);
  }
  await annotate(`${2 * (away.length + more.length) + away.length} return paths stayed on this site`);
});

/** @returns the recovery codes */
async function switchSecondFactorOn(from: string): Promise<string[]> {
  const headers = new Headers({ Cookie: getCookies(await signIn(owner.password, from)) });
  const enabled = await auth().api.enableTwoFactor({ body: { password: owner.password }, headers });
  if (enabled.method !== "totp") throw new Error("no second factor");
  const code = totp(new URL(enabled.totpURI).searchParams.get("secret") ?? "");
  await auth().api.verifyTOTP({ body: { code }, headers });
  return enabled.backupCodes;
}
