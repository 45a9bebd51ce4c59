import { createHash, randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { grant, listGrants, revokeGrant } from "#lib/auth/oauth/grants";
import { readClient } from "#lib/auth/oauth/registration";
import { logOutMachines } from "#lib/auth/tokens";
import { pool } from "#lib/db/client";
import { renameProject } from "#lib/projects/change";
import { get, ingest, makeUser, post, provideOwnedServer, someAddress } from "../support/server.ts";
import { report } from "../support/telemetry.ts";
import { bearer, expectApiHeaders, expectProblem } from "./client.ts";

const { server, userId, token: cliToken } = await provideOwnedServer();
const redirectUri = "http://127.0.0.1/callback";
const uris = [
  ...[redirectUri, "https://agent.example/callback", "cursor://anysphere.cursor-mcp/oauth/callback"],
  ...["vscode-insiders://vscode.mcp/callback", "zed://oauth", "com.example.agent:/callback"],
];

const register = (metadata: object) =>
  post(server, "/api/oauth/register", metadata, { "X-Forwarded-For": someAddress() });

const send = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
  fetch(`${server.url}/api/oauth/${path}`, {
    method: "POST",
    headers: { "X-Forwarded-For": someAddress(), ...headers },
    body: new URLSearchParams(fields),
  });

type Described = Record<string, Record<string, { security?: Record<string, string[]>[] }>>;

const registered = await (await register({ client_name: "Test agent", redirect_uris: uris })).json();
const clientId: string = registered.client_id;

const makeVerifier = () => {
  const verifier = randomBytes(32).toString("base64url");
  return { verifier, challenge: createHash("sha256").update(verifier).digest("base64url") };
};

/** A code as the consent page gives it, and what the agent exchanges it with. */
async function approve({
  project = null,
  user = userId,
}: {
  project?: Parameters<typeof grant>[1]["project"];
  user?: string;
} = {}) {
  const { verifier, challenge } = makeVerifier();
  const code = await grant(user, { client: readClient(clientId), redirectUri, challenge, project }, operator);
  const about = { client_id: clientId, redirect_uri: redirectUri, code_verifier: verifier };
  return { grant_type: "authorization_code", code, ...about };
}

async function connect(options?: Parameters<typeof approve>[0]): Promise<{ access: string; refresh: string }> {
  const response = await send("token", await approve(options));
  expect([response.status, response.headers.get("cache-control")]).toEqual([200, "no-store"]);
  const { access_token: access, refresh_token: refresh, ...rest } = await response.json();
  expect(rest).toEqual({ token_type: "Bearer", expires_in: 3600, scope: "traces:read" });
  return { access, refresh };
}

const renew = (refresh: string, more: Record<string, string> = {}) =>
  send("token", { grant_type: "refresh_token", refresh_token: refresh, client_id: clientId, ...more });

async function expectOauthError(response: Response, status: number, error: string): Promise<void> {
  const body = await response.json();
  expect([response.status, body]).toEqual([status, { error, error_description: expect.stringMatching(/.{8}/) }]);
  expect(response.headers.get("cache-control")).toBe("no-store");
  expect(response.headers.get("www-authenticate")).toBe(status === 401 ? 'Bearer realm="spoor"' : null);
}

const call = (access: string, name?: string, given: object = {}) =>
  post(
    server,
    "/mcp",
    {
      jsonrpc: "2.0",
      id: 1,
      method: name ? "tools/call" : "tools/list",
      ...(name ? { params: { name, arguments: given } } : {}),
    },
    bearer(access),
  );
const told = async (access: string, name: string, given: object): Promise<string> =>
  (await (await call(access, name, given)).json()).result.content[0].text;

describe("what an agent finds out", () => {
  test("a call without a token names the resource, and that names the server that gives tokens", async () => {
    const refused = await call("nonsense");
    await expectProblem(refused, 401, "invalid_token");
    const where = `${server.url}/.well-known/oauth-protected-resource/mcp`;
    const challenge = `Bearer realm="spoor", error="invalid_token", resource_metadata="${where}"`;
    expect(refused.headers.get("www-authenticate")).toBe(challenge);
    for (const path of ["/.well-known/oauth-protected-resource", new URL(where).pathname]) {
      const response = await get(server, path);
      expectApiHeaders(response.headers);
      const resource = await response.json();
      expect(resource).toMatchObject({ resource: `${server.url}/mcp`, authorization_servers: [server.url] });
    }
    const about = await (await get(server, "/.well-known/oauth-authorization-server")).json();
    expect(about).toMatchObject({
      issuer: server.url,
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: ["none"],
    });
    expect((await get(server, "/.well-known/oauth-authorization-server/x")).status).toBe(404);
  });
});

describe("registration", () => {
  test("stores nothing, and gives an id that another server, or a changed one, does not take", async () => {
    expect(registered).toMatchObject({
      client_name: "Test agent",
      redirect_uris: uris,
      token_endpoint_auth_method: "none",
    });
    const [text = "", mark = ""] = clientId.split(".");
    const changed = Buffer.from(text, "base64url").toString().replace("agent.example", "evil.example");
    for (const id of ["", "x", text, `${Buffer.from(changed).toString("base64url")}.${mark}`, `${clientId}.x`])
      await expectOauthError(await send("token", { ...(await approve()), client_id: id }), 401, "invalid_client");
  });

  test("refuses what is no redirect URI (all of them: tests/unit/auth/redirect-uri.test.ts)", async () => {
    for (const uri of ["http://evil.example/callback", "search-ms://query", "https://agent.example/\u0000"])
      await expectOauthError(await register({ redirect_uris: [uri] }), 400, "invalid_redirect_uri");
  });

  test("is bounded: names, addresses, bytes, and calls of a network", async () => {
    const long = await (
      await register({ client_name: `a\u202e${"b".repeat(500)}`, redirect_uris: [redirectUri] })
    ).json();
    expect(long.client_name).toBe(`a${"b".repeat(63)}`);
    const many = Array.from({ length: 9 }, (_, n) => `https://agent.example/${n}`);
    await expectOauthError(await register({ redirect_uris: many }), 400, "invalid_redirect_uri");
    const wide = many.slice(0, 8).map((uri) => `${uri}?${"x".repeat(400)}`);
    await expectOauthError(await register({ redirect_uris: wide }), 400, "invalid_client_metadata");
    await expectProblem(await register({ redirect_uris: ["x".repeat(20_000)] }), 413, "payload_too_large");
    const from = { "X-Forwarded-For": someAddress() };
    let last: Response | undefined;
    for (let sent = 0; sent < 70 && last?.status !== 429; sent += 1) last = await send("revoke", {}, from);
    await expectProblem(last as Response, 429, "rate_limited");
  });
});

describe("a code", () => {
  test("is exchanged once; what it gave ends where it comes again", async () => {
    const fields = await approve();
    const { access_token: access } = await (await send("token", fields)).json();
    expect((await call(access)).status).toBe(200);
    await expectOauthError(await send("token", fields), 400, "invalid_grant");
    await expectProblem(await call(access), 401, "invalid_token");
  });

  test("is exchanged once of ten at a time", async () => {
    const fields = await approve();
    const answers = await Promise.all(Array.from({ length: 10 }, () => send("token", fields)));
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
  });

  test("is nothing without its verifier, its redirect URI, its client, or for another resource", async () => {
    const other = await (await register({ client_name: "Other", redirect_uris: [redirectUri] })).json();
    for (const [change, status, error] of [
      [{ code_verifier: "x".repeat(43) }, 400, "invalid_grant"],
      [{ redirect_uri: "https://agent.example/callback" }, 400, "invalid_grant"],
      [{ client_id: other.client_id }, 400, "invalid_grant"],
      [{ code: "spoor_code_x" }, 400, "invalid_grant"],
      [{ resource: "https://evil.example/mcp" }, 400, "invalid_target"],
      [{ resource: `${server.url}/api` }, 400, "invalid_target"],
      [{ grant_type: "password" }, 400, "unsupported_grant_type"],
      [{ grant_type: "" }, 400, "invalid_request"],
    ] as const)
      await expectOauthError(await send("token", { ...(await approve()), ...change }), status, error);
    const { code_verifier: _, ...without } = await approve();
    await expectOauthError(await send("token", without), 400, "invalid_request");
    const late = await approve();
    await pool().query("update agent_grant set expires_at = now() where token_id is null");
    await expectOauthError(await send("token", late), 400, "invalid_grant");
  });
});

describe("an agent's token", () => {
  test("opens /mcp, and nothing else", async () => {
    const { access } = await connect();
    expect((await call(access)).status).toBe(200);
    const { paths } = await (await get(server, "/api/openapi.json")).json();
    const named = (path: string) => path.replace("{sha256}", "a".repeat(64)).replace(/\{\w+\}/g, userId);
    const taken = Object.entries(paths as Described).flatMap(([path, item]) =>
      Object.entries(item).flatMap(([method, { security }]) =>
        path !== "/api/mcp" && security?.[0]?.token ? [{ method, path: named(path) }] : [],
      ),
    );
    expect(taken.length).toBeGreaterThan(20);
    for (const { method, path } of taken) {
      const response = await fetch(server.url + path, { method: method.toUpperCase(), headers: bearer(access) });
      await expectProblem(response, 403, "access_denied");
    }
  });

  test("reports no telemetry in its person's name", async () => {
    const { access } = await connect();
    expect((await post(server, "/api/cli/telemetry", report({}), bearer(access))).status).toBe(200);
    const { rows } = await pool().query("select user_id from telemetry_report");
    expect(rows).toEqual([{ user_id: null }]);
  });

  test("reads its own person's sessions alone, or those of one project", async () => {
    const bob = await makeUser({ name: "Bob", email: "bob@example.org", password: "" });
    const messages = [{ position: 0, role: "user", content: "zanzibar" }];
    // Two repositories of one name, of which one was named by its person: neither a name nor a text tells them apart.
    const of = (owner: string) => ({ project: "api", metadata: { repository: `https://github.com/${owner}/api` } });
    await ingest(server, cliToken, [
      { sourceId: "a", ...of("alpha"), messages },
      { sourceId: "b", ...of("beta"), messages },
    ]);
    const read = () => pool().query("select id, project_id from trace where project_id is not null order by source_id");
    await expect.poll(async () => (await read()).rowCount, { timeout: 30_000 }).toBe(2);
    const [{ id: alpha, project_id: ofAlpha }, { id: beta }] = (await read()).rows;
    await renameProject(userId, ofAlpha, "beta");
    const project = { id: ofAlpha, name: "beta" };
    const [all, narrow, foreign] = [await connect(), await connect({ project }), await connect({ user: bob })];
    await expect
      .poll(() => told(all.access, "search_sessions", { query: "zanzibar" }), { timeout: 30_000 })
      .toContain(beta);
    for (const [name, given] of [
      ["search_sessions", { query: "zanzibar" }],
      ["search_sessions", { query: "zanzibar", project: "beta" }],
      ["list_recent", {}],
      ["list_recent", { project: "beta" }],
      ["find_past_fix", { error: "zanzibar" }],
    ] as const) {
      const text = await told(narrow.access, name, given);
      expect([name, text.includes(alpha), text.includes(beta)]).toEqual([name, true, false]);
      expect(await told(foreign.access, name, given)).not.toContain(alpha);
    }
    for (const name of ["read_session", "session_summary"]) {
      expect(await told(narrow.access, name, { session: alpha })).toContain(alpha);
      expect(await told(narrow.access, name, { session: beta })).toBe("There is no such session.");
      expect(await told(foreign.access, name, { session: alpha })).toBe("There is no such session.");
    }
    const resource = (access: string, id: string) =>
      post(
        server,
        "/mcp",
        { jsonrpc: "2.0", id: 1, method: "resources/read", params: { uri: `spoor://session/${id}` } },
        bearer(access),
      ).then((response) => response.json());
    expect((await resource(narrow.access, alpha)).result).toBeDefined();
    expect((await resource(narrow.access, beta)).error).toBeDefined();
  });

  test("is renewed by a refresh token, once: a stolen one that comes again ends all of it", async () => {
    const first = await connect();
    const { access_token: access, refresh_token: refresh } = await (await renew(first.refresh)).json();
    await expectProblem(await call(first.access), 401, "invalid_token");
    expect((await call(access)).status).toBe(200);
    await expectOauthError(await renew(refresh, { scope: "admin" }), 400, "invalid_scope");
    await expectOauthError(await renew(refresh, { resource: "https://evil.example" }), 400, "invalid_target");
    await expectOauthError(await renew(first.refresh), 400, "invalid_grant");
    await expectOauthError(await renew(refresh), 400, "invalid_grant");
    await expectProblem(await call(access), 401, "invalid_token");
  });

  test("ends at once where it is revoked: by the agent, on the page, with all machines, and with its own session", async () => {
    const revoke = (token: string, id = clientId) => send("revoke", { token, client_id: id });
    for (const which of ["access", "refresh"] as const) {
      const both = await connect();
      expect((await revoke(both[which])).status).toBe(200);
      await expectProblem(await call(both.access), 401, "invalid_token");
      await expectOauthError(await renew(both.refresh), 400, "invalid_grant");
    }
    const other = await (await register({ client_name: "Other", redirect_uris: [redirectUri] })).json();
    const kept = await connect();
    for (const [text, id] of [
      [kept.access, other.client_id],
      [cliToken, clientId],
      ["x", clientId],
    ] as const)
      expect((await revoke(text, id)).status).toBe(200);
    expect((await call(kept.access)).status).toBe(200);
    expect((await get(server, "/api/cli/session", cliToken)).status).toBe(200);
    const [listed] = await listGrants(userId);
    const bob = await makeUser({ name: "Eve", email: "eve@example.org", password: "" });
    expect(await revokeGrant(bob, listed?.id ?? "", operator)).toBe(false);
    expect(await revokeGrant(userId, listed?.id ?? "", operator)).toBe(true);
    await expectProblem(await call(kept.access), 401, "invalid_token");
    const last = await connect();
    await logOutMachines(userId, operator);
    await expectProblem(await call(last.access), 401, "invalid_token");
    await expectOauthError(await renew(last.refresh), 400, "invalid_grant");
    expect(await listGrants(userId)).toEqual([]);
  });
});
