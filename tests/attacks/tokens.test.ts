import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { webDigest } from "#server/build/sources";
import { bearer, expectProblem, sessionCookie } from "../api/client.ts";
import { getFields } from "../support/form.ts";
import { get, ingest, logIn, post, provideOwnedServer, someAddress } from "../support/server.ts";

const { server, userId, token } = await provideOwnedServer({ environment: { AUTH_RATE_LIMIT: "on" } });
const Cookie = await sessionCookie(server);

test("no token without the scope deletes a session, and none is told whether one exists", async ({ annotate }) => {
  const sent = Array.from({ length: 20 }, (_, n) => ({
    sourceId: `s-${n}`,
    messages: [{ position: 0, content: "mine" }],
  }));
  await ingest(server, token, sent);
  const { traces } = (await (await get(server, "/api/traces?limit=200", token)).json()) as { traces: { id: string }[] };
  expect(traces).toHaveLength(20);
  const ids = [...traces.map(({ id }) => id), crypto.randomUUID()];
  const tokens = [token, await logIn(server, userId, "m", ["read"]), await logIn(server, userId, "m", ["ingest"])];
  for (const one of tokens) {
    const tries = ids.map((id) => fetch(`${server.url}/api/traces/${id}`, { method: "DELETE", headers: bearer(one) }));
    for (const response of await Promise.all(tries)) {
      expect(response.headers.get("www-authenticate")).toBe('Bearer realm="spoor", error="insufficient_scope"');
      await expectProblem(response, 403, "access_denied");
    }
  }
  const { rowCount } = await pool().query("select 1 from trace where deleted_at is null");
  expect(rowCount).toBe(20);
  await annotate(`${ids.length * tokens.length} deletions refused, ${rowCount} of 20 sessions left`);
});

test("a phishing link opened on another network shows no code, and no forged form approves it", async ({
  annotate,
}) => {
  const from = { "X-Forwarded-For": someAddress() };
  const asked = { machine: "attackers-laptop", scopes: ["ingest", "read", "delete"] };
  const started = await (await post(server, "/api/cli/device/start", asked, from)).json();
  const code: string = started.userCode;
  const victim = { Cookie, "X-Forwarded-For": someAddress() };
  const opened = await fetch(started.verificationUriComplete, { headers: victim });
  const html = await opened.text();
  expect(html).toContain("attackers-laptop");
  for (const text of [html, opened.url]) {
    expect(text).not.toContain(code);
    expect(text).not.toContain(code.replace("-", ""));
  }

  const approve = async (fields: Record<string, string>, to = opened.url): Promise<number> => {
    const body = new FormData();
    for (const [name, value] of Object.entries({ ...getFields(html, "approve"), ...fields })) body.append(name, value);
    const headers = { ...victim, Origin: server.url };
    await fetch(to, { method: "POST", body, headers, redirect: "manual" });
    return (await get(server, `/api/cli/device/poll?deviceCode=${started.deviceCode}`)).status;
  };
  expect(getFields(html, "approve").ticket).toMatch(/.{20}/);
  const elsewhere = (await (await post(server, "/api/cli/device/start", asked, from)).json()).userCode;
  const forged: [fields: Record<string, string>, to?: string][] = [
    [{}],
    [{ typedCode: "" }],
    [{ typedCode: "BCDF-GHJK" }],
    [{ typedCode: elsewhere }],
    [{ code }],
    [{}, started.verificationUriComplete],
    [{}, `${opened.url}&typedCode=${code}&code=${code}`],
    [{ typedCode: code, ticket: "" }],
    [{ typedCode: code, ticket: "AAAA" }],
  ];
  for (const [fields, to] of forged) expect(await approve(fields, to)).toBe(202);
  expect(await approve({ typedCode: code })).toBe(200);
  await annotate(`${forged.length} forged approvals changed nothing; the code from the terminal did`);
});

test("ids of actions are made of the sources, so that hosts which build them by themselves serve each other's pages", async () => {
  const { encryptionKey } = JSON.parse(await readFile(".next/server/server-reference-manifest.json", "utf8"));
  const ofBuild = Buffer.from(webDigest(), "hex");
  expect(encryptionKey).toBe(ofBuild.toString("base64"));
  expect(await readFile(".next/BUILD_ID", "utf8")).toMatch(new RegExp(`-${ofBuild.toString("hex").slice(0, 16)}$`));
});
