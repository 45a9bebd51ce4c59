import { createHash } from "node:crypto";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { operations } from "#lib/api/operations";
import { pool } from "#lib/db/client";
import type { Mode } from "#lib/http/operation";
import { waitingForLocks } from "../support/meanwhile.ts";
import { get, ingest, logIn, owner, post, provideOwnedServer } from "../support/server.ts";
import { fillPath } from "./calls.ts";
import {
  asResponse,
  bearer,
  expectProblem,
  openRequest,
  sessionCookie,
  signIn,
  storedUploads,
  unknownToken,
  withoutRequestId,
} from "./client.ts";

const { server, userId, token } = await provideOwnedServer();
let cookie: string;
let traceId: string;
let jobId: string;
beforeAll(async () => {
  await ingest(server, token, [{ sourceId: "one", messages: [{ position: 0, content: "hello" }] }]);
  const { rows } = await pool().query<{ job: string; trace: string }>(
    "select (select id from ingest_job) as job, (select id from trace) as trace",
  );
  jobId = rows[0]?.job ?? "";
  traceId = rows[0]?.trace ?? "";
  cookie = await sessionCookie(server);
});

/** Every operation that a token opens, with the paths of what is stored; `/mcp` is an agent's name for one of them. */
const listRoutes = (mode?: Mode) =>
  operations
    .filter(({ auth }) => (mode ? auth === mode : auth === "bearer" || auth === "cookie-or-bearer"))
    .flatMap(({ methods, path, agents, about: { example } }) =>
      [path, ...(path === "/api/mcp" ? ["/mcp"] : [])].flatMap((one) =>
        methods.map((method) => {
          const filled = fillPath(one, { id: traceId, jobId, sha256: "a".repeat(64) });
          return { method, path: `${filled}?${new URLSearchParams(example?.query)}`, agents };
        }),
      ),
    );
/** Agents are told who gives tokens (RFC 9728, section 5.1). */
const describeMetadata = ({ agents }: { agents?: boolean | undefined }) =>
  agents ? `, resource_metadata="${server.url}/.well-known/oauth-protected-resource/mcp"` : "";

const call = ({ method, path }: { method: string; path: string }, headers: Record<string, string> = {}) =>
  fetch(server.url + path, {
    method,
    headers: { "Content-Type": "application/json", ...headers },
    body: method === "POST" ? JSON.stringify({ traces: [] }) : undefined,
  });

describe("a call without a valid token", () => {
  test("is 401 missing_token on every route that needs one if it presents none", async () => {
    for (const route of listRoutes()) {
      for (const headers of [
        {},
        { Authorization: "Basic YTpi" },
        { Authorization: "Bearer" },
        { Authorization: token },
      ] as Record<string, string>[]) {
        const response = await call(route, headers);
        expect(response.headers.get("www-authenticate")).toBe(`Bearer realm="spoor"${describeMetadata(route)}`);
        expect(await expectProblem(response, 401, "missing_token")).toMatchObject({ title: "Unauthorized" });
      }
    }
  });

  test("gets the same answer for an unknown, an expired, a revoked and a malformed one", async () => {
    const expired = await logIn(server, userId);
    const revoked = await logIn(server, userId);
    const computeHash = (text: string) => createHash("sha256").update(text).digest();
    await pool().query("update cli_token set expires_at = now() - interval '1 ms' where hash = $1", [
      computeHash(expired),
    ]);
    expect((await fetch(`${server.url}/api/cli/session`, { method: "DELETE", headers: bearer(revoked) })).status).toBe(
      204,
    );
    for (const route of listRoutes()) {
      const answers = [];
      for (const text of [unknownToken(), expired, revoked, "x", `${token}x`]) {
        const response = await call(route, bearer(text));
        expect(response.status).toBe(401);
        answers.push(await withoutRequestId(response));
      }
      expect(new Set(answers.map((one) => JSON.stringify(one))).size).toBe(1);
      expect(answers[0]).toMatchObject({
        error: "invalid_token",
        challenge: `Bearer realm="spoor", error="invalid_token"${describeMetadata(route)}`,
      });
    }
  });

  test("is refused with any one letter of a valid token changed", async () => {
    for (const at of [0, 6, 7, 20, 35, 36, 41]) {
      const changed = `${token.slice(0, at)}${token[at] === "A" ? "B" : "A"}${token.slice(at + 1)}`;
      await expectProblem(await get(server, "/api/cli/session", changed), 401, "invalid_token");
    }
  });

  test("is refused with what the database stores of a token or of a sign-in", async () => {
    const { rows } = await pool().query<{ hash: string; session: string }>(
      "select (select encode(hash, 'hex') from cli_token limit 1) as hash, (select token from session limit 1) as session",
    );
    const [row] = rows;
    const presented = [row?.hash, `spoor_${row?.hash}`, row?.session, cookie.split("=")[1]];
    for (const text of presented) {
      expect(text).toMatch(/.{20}/);
      await expectProblem(await get(server, "/api/cli/session", text), 401, "invalid_token");
      await expectProblem(await get(server, "/api/traces", text), 401, "invalid_token");
    }
  });

  test("is answered before a large body is sent", async () => {
    const before = await storedUploads();
    for (const headers of [{}, bearer(unknownToken())] as Record<string, string>[]) {
      const { request, answer } = openRequest(server, "/api/ingest", {
        headers: { ...headers, "Content-Length": String(60 << 20) },
      });
      request.flushHeaders();
      expect((await answer).status).toBe(401);
      await expectProblem(
        asResponse(await answer),
        401,
        "Authorization" in headers ? "invalid_token" : "missing_token",
      );
      request.destroy();
    }
    expect(await storedUploads()).toEqual(before);
  });
});

describe("a token", () => {
  test("is accepted with its scheme in any case", async () => {
    for (const scheme of ["Bearer", "bearer", "BEARER", "bEaReR"]) {
      const headers = { Authorization: `${scheme} ${token}` };
      expect((await call({ method: "GET", path: "/api/cli/session" }, headers)).status).toBe(200);
    }
  });

  test("that is invalid is refused even beside a valid cookie", async () => {
    const headers = { ...bearer(unknownToken()), Cookie: cookie };
    await expectProblem(await call({ method: "GET", path: "/api/traces" }, headers), 401, "invalid_token");
  });

  test("signs nobody in on the auth component's routes", async () => {
    const response = await get(server, "/api/auth/get-session", token);
    expect(response.status).toBe(200);
    expect(await response.json()).toBeNull();
    expect(response.headers.getSetCookie()).toEqual([]);
  });
});

describe("a session cookie", () => {
  test("has the card's name, and is HttpOnly, SameSite=Lax, for all paths, and not Secure over http", async () => {
    const response = await signIn(server);
    expect(response.status).toBe(200);
    const set = response.headers.getSetCookie().map((cookie) => cookie.split("; "));
    expect(set.map(([pair]) => pair)).toEqual([
      expect.stringMatching(/^authlib\.session_token=.{20}/),
      expect.stringMatching(/^authlib\.known_browser=[\w-]{22}\.[\w-]{43}$/),
    ]);
    for (const [, ...attributes] of set) {
      const names = attributes.map((one) => one.toLowerCase());
      expect(names).toEqual(expect.arrayContaining(["httponly", "samesite=lax", "path=/"]));
      expect(names).not.toContain("secure");
    }
  });

  test("is new at every sign-in: one that the browser brings along is never taken over", async () => {
    const [name, value = ""] = cookie.split("=");
    for (const brought of [cookie, `${name}=${"x".repeat(32)}.${value.split(".")[1]}`]) {
      const response = await signIn(server, owner, { Cookie: brought });
      const [, set = ""] = /authlib\.session_token=([^;]+)/.exec(response.headers.getSetCookie()[0] ?? "") ?? [];
      expect(set.length).toBeGreaterThan(20);
      expect(set.split(".")[0]).not.toBe(brought.split("=")[1]?.split(".")[0]);
    }
  });

  test("opens every route of mode cookie-or-bearer", async () => {
    for (const route of listRoutes("cookie-or-bearer").filter(({ method }) => method === "GET")) {
      const isMissing = /projects\/|pictures\/|originals\/(?!export)|pulls/.test(route.path); // there is a session and its job alone
      expect([route.path, (await call(route, { Cookie: cookie })).status]).toEqual([route.path, isMissing ? 404 : 200]);
    }
    const session = await fetch(`${server.url}/api/auth/get-session`, { headers: { Cookie: cookie } });
    expect(await session.json()).toMatchObject({ user: { id: userId, email: owner.email } });
  });

  test("opens no route of mode bearer", async () => {
    const before = await storedUploads();
    for (const route of listRoutes("bearer")) {
      const response = await call(route, { Cookie: cookie, Origin: server.url });
      await expectProblem(response, 401, "missing_token");
    }
    expect(await storedUploads()).toEqual(before);
  });

  test("with a changed signature or value opens nothing", async () => {
    const [name, value = ""] = cookie.split("=");
    const flip = (text: string, at: number) =>
      `${text.slice(0, at)}${text[at] === "A" ? "B" : "A"}${text.slice(at + 1)}`;
    const { rows } = await pool().query<{ token: string }>("select token from session limit 1");
    for (const wrong of [flip(value, 3), flip(value, value.length - 10), rows[0]?.token, ""]) {
      const response = await call({ method: "GET", path: "/api/traces" }, { Cookie: `${name}=${wrong}` });
      await expectProblem(response, 401, "missing_token");
    }
  });

  test("is refused for an address with U+0000, while the escape as plain text is an ordinary wrong address", async () => {
    const ask = (email: string) =>
      post(server, "/api/auth/sign-in/email", `{"email":"${email}","password":"x"}`, { Origin: server.url });
    await expectProblem(await ask("a\\u0000@example.org"), 400, "invalid_request");
    expect((await ask("a\\\\u0000")).headers.get("content-type")).not.toBe("application/problem+json");
  });

  test("is not set for a wrong password, from a foreign Origin, or for an account created without an invitation", async () => {
    expect((await signIn(server, { ...owner, password: "not the password" })).status).toBe(401);
    const foreign = await fetch(`${server.url}/api/auth/sign-in/email`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Origin: "https://evil.example", Cookie: cookie },
      body: JSON.stringify({ email: owner.email, password: owner.password }),
    });
    expect(foreign.status).toBe(403);
    const signUp = await post(
      server,
      "/api/auth/sign-up/email",
      { name: "Eve", email: "eve@example.org", password: "a password of eve's" },
      { Origin: server.url },
    );
    await expectProblem(signUp, 404, "not_found");
    const { rows } = await pool().query(`select count(*)::int as users from "user"`);
    expect(rows).toEqual([{ users: 1 }]);
  });

  test("does not delete a trace unless the request names this server as its Origin", async () => {
    const path = `/api/traces/${traceId}`;
    const foreign: Record<string, string>[] = [
      {},
      { Origin: "https://evil.example" },
      { Origin: "null" },
      { Origin: `${server.url}.evil.example` },
      { Origin: server.url.replace("http:", "https:") },
      { Origin: server.url, "Sec-Fetch-Site": "cross-site" },
      { Origin: server.url, "Sec-Fetch-Site": "same-site" },
    ];
    for (const headers of foreign) {
      const response = await call({ method: "DELETE", path }, { Cookie: cookie, ...headers });
      await expectProblem(response, 403, "access_denied");
    }
    expect((await get(server, path, token)).status).toBe(200);
    const response = await call({ method: "DELETE", path }, { Cookie: cookie, Origin: server.url });
    expect([response.status, await response.text()]).toEqual([204, ""]);
    expect((await get(server, path, token)).status).toBe(404);
  });
});

test("a wrong password is answered before it is in the trail: the time does not tell for which addresses there is one", async () => {
  const failed = async () =>
    (await pool().query("select from audit_event where action = 'sign_in_failed' and user_id = $1", [userId])).rowCount;
  const before = (await failed()) ?? 0;
  const holder = await pool().connect();
  try {
    await holder.query("begin; lock table audit_event in share row exclusive mode");
    const body = { email: owner.email, password: "wrong password" };
    const response = await post(server, "/api/auth/sign-in/email", body, { Origin: server.url });
    expect(response.status).toBe(401);
    await vi.waitFor(async () => expect(await waitingForLocks()).toBe(1), 5000);
  } finally {
    await holder.query("rollback");
    holder.release();
  }
  await vi.waitFor(async () => expect(await failed()).toBe(before + 1), 5000);
});
