// What leaves a server about a session, by every way that there is.
import { expect } from "vitest";
import { pool } from "#lib/db/client";
import { bearer } from "../../api/client.ts";
import { plainBrowser } from "../../support/plain-browser.ts";
import { get, owner, post, type Server } from "../../support/server.ts";
import { certain, likely } from "./leaking.ts";

/** A server, and a token of its owner. */
type Asked = { at: Server; token: string };

/** Calls the Model Context Protocol, as an agent does. */
const agent = ({ at, token }: Asked, method: string, params: object) =>
  post(
    at,
    "/mcp",
    { jsonrpc: "2.0", id: 1, method, params },
    { ...bearer(token), Accept: "application/json, text/event-stream" },
  ).then((answer) => answer.text());

/** A browser with its owner signed in. */
async function signedIn(at: Server) {
  const browser = plainBrowser(at);
  const { email, password } = owner;
  expect(await browser.post("/api/auth/sign-in/email", { email, password })).toMatchObject({ status: 200 });
  return browser;
}

/** Everything that leaves a server about these sessions, as others get it and as their owner does. */
export async function answers(asked: Asked, share: string, traceId: string) {
  const { at, token } = asked;
  const read = async (path: string) => {
    const answer = await get(at, path, token);
    expect([path, answer.status]).toEqual([path, 200]);
    return answer.text();
  };
  const call = (name: string, args: object) => agent(asked, "tools/call", { name, arguments: args });
  const forOthers = [
    await fetch(`${at.url}${new URL(share).pathname}`).then((answer) => answer.text()),
    await read(`/api/traces/${traceId}/export.md?for=github`),
    await read(`/api/traces/export?masked=secrets&id=${traceId}`),
    await read(`/api/traces/${traceId}/export.md?masked=all`),
    await call("search_sessions", { query: "cat" }),
    await call("read_session", { session: traceId }),
    await call("session_summary", { session: traceId }),
    await call("find_past_fix", { error: "cat env" }),
    await call("list_recent", {}),
    await agent(asked, "resources/list", {}),
    await agent(asked, "resources/read", { uri: `spoor://session/${traceId}` }),
    await read("/api/recall?error=cat%20env"),
  ];
  for (const answer of forOthers) expect(answer).toContain("[redacted:");
  const forOwner: string[] = [];
  for (const path of [
    "/api/traces/export",
    `/api/traces/${traceId}`,
    `/api/traces/${traceId}/export.md`,
    `/api/traces/${traceId}/export.json`,
    `/api/traces/${traceId}/messages?limit=1000`,
    `/api/traces/${traceId}/files`,
    `/api/traces/${traceId}/matches?q=env`,
    "/api/traces?q=password",
    "/api/traces/facets",
    "/api/names?q=fix",
    "/api/projects",
    "/api/usage",
    "/api/usage/export.csv",
    "/api/findings?limit=200",
    ...certain.slice(0, 20).map((one) => `/api/traces/suggestions?q=${encodeURIComponent(one.slice(0, 6))}`),
    ...likely.map((one) => `/api/traces/suggestions?q=${one.slice(0, 4)}`),
  ])
    forOwner.push(await read(path));
  const browser = await signedIn(at);
  for (const path of [
    ...["home", "traces", "findings", "files", "projects", "usage", "uploads", "devices", "diagnostics", "settings"],
    ...[
      "settings/trail",
      "settings/shares",
      `traces/${traceId}`,
      `traces/${traceId}/changes`,
      `traces/${traceId}/share`,
    ],
  ]) {
    const { status, text } = await browser.send(`/${path}`);
    expect([path, status]).toEqual([path, 200]);
    forOwner.push(text);
  }
  return { forOthers, forOwner: forOwner.join("\n") };
}

/** The bodies of all uploads, as their owner downloads them. */
export async function rawUploads({ at }: Asked): Promise<string> {
  const { rows } = await pool().query<{ id: string }>("select id from ingest_job");
  const browser = await signedIn(at);
  const answers = await Promise.all(rows.map(({ id }) => browser.send(`/api/ingest/${id}/raw`)));
  expect(answers.map(({ status }) => status)).toEqual(rows.map(() => 200));
  return answers.map(({ text }) => text).join("\n");
}

/** What a server says to requests that have secrets where none belong. */
export async function refusals(asked: Asked): Promise<string> {
  const { at, token } = asked;
  const [one = "", other = ""] = certain;
  const said = encodeURIComponent(other);
  const send = (body: string) => post(at, "/api/ingest", body, bearer(token));
  const sent = [
    send(`{"traces":[{"sourceId":"x","messages":"${one}"}]}`),
    send(`{"traces":[{"sourceId":"x","messages":[{"position":"${other}"}]}]}`),
    send(`{"traces":[{"${one}":"${other}"`),
    send(`{"${one}":["${other}"]}`),
    post(at, "/api/cli/telemetry", { schema: one, [other]: one }, bearer(token)),
    get(at, `/api/traces/${said}`, token),
    get(at, `/api/traces?cursor=${said}`, token),
    get(at, `/api/traces?from=${said}&${said}=1`, token),
    get(at, `/api/findings?kind=${said}&cursor=${said}`, token),
    get(at, `/api/ingest/${said}`, token),
    get(at, "/api/traces", one),
  ];
  const all: string[] = [];
  for (const answer of await Promise.all(sent)) {
    expect([answer.url, answer.status >= 400 && answer.status < 500]).toEqual([answer.url, true]);
    all.push(await answer.text());
  }
  // Pages and the protocol repeat to who asked what they asked for; the log must not.
  await Promise.all([
    get(at, `/shared/${said}`),
    get(at, `/${said}`),
    agent(asked, one, { [other]: one }),
    agent(asked, "tools/call", { name: one, arguments: {} }),
    agent(asked, "tools/call", { name: "read_session", arguments: { session: other } }),
    agent(asked, "resources/read", { uri: `spoor://session/${said}` }),
  ]);
  return all.join("\n");
}
