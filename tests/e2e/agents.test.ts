import { spawn } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import * as oauth from "oauth4webapi";
import { expect, test } from "vitest";
import { freePort } from "#lib/db/embedded/ports";
import { expectGoodLook } from "../support/look.ts";
import { get, ingest, owner } from "../support/server.ts";
import { provideSignedIn, trail } from "./signed-in.ts";

const { server, browser, page, faults, button, open, tokenByHand } = await provideSignedIn(undefined, true);

/** An agent's own listener, which a browser is sent back to. */
async function listen() {
  const answers: URL[] = [];
  const listener = createServer((request, response) => {
    answers.push(new URL(request.url ?? "", "http://127.0.0.1"));
    response.end("done");
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => listener.once("listening", resolve));
  const { port } = listener.address() as AddressInfo;
  const next = async () => {
    await expect.poll(() => answers.filter(({ pathname }) => pathname === "/callback").length).toBeGreaterThan(0);
    return answers.splice(0).find(({ pathname }) => pathname === "/callback") as URL;
  };
  return { redirectUri: `http://127.0.0.1:${port}/callback`, next, close: () => listener.close() };
}

const insecure = { [oauth.allowInsecureRequests]: true };

/** What an agent knows after it was refused, and has registered. */
async function discover(redirectUri: string) {
  const resource = new URL(`${server.url}/mcp`);
  const about = await oauth
    .resourceDiscoveryRequest(resource, insecure)
    .then((response) => oauth.processResourceDiscoveryResponse(resource, response));
  const issuer = new URL(about.authorization_servers?.[0] ?? "");
  const as = await oauth
    .discoveryRequest(issuer, { algorithm: "oauth2", ...insecure })
    .then((response) => oauth.processDiscoveryResponse(issuer, response));
  const metadata = { client_name: "Claude <b>Code</b>", redirect_uris: [redirectUri] };
  const client = await oauth
    .dynamicClientRegistrationRequest(as, metadata, insecure)
    .then(oauth.processDynamicClientRegistrationResponse);
  return { as, client: client as oauth.Client, resource: resource.href };
}

test("an agent is let in by its person in a browser, renews its token, and is let out on the page Machines", async () => {
  const token = await tokenByHand("uploader");
  await ingest(server, token, [
    { sourceId: "a", project: "alpha", messages: [{ position: 0, role: "user", content: "hello" }] },
  ]);
  // Which project a session is of is found out after its upload.
  const projects = async () => (await (await get(server, "/api/projects", token)).json()).projects.length;
  await expect.poll(projects, { timeout: 60_000 }).toBe(1);
  const { redirectUri, next, close } = await listen();
  const { as, client, resource } = await discover(redirectUri);
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const asked = new URL(as.authorization_endpoint ?? "");
  asked.search = new URLSearchParams({
    client_id: client.client_id,
    redirect_uri: redirectUri,
    response_type: "code",
    scope: "traces:read",
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    state,
    resource,
  }).toString();

  await page.goto(asked.href);
  await page.getByText("Claude <b>Code</b>").waitFor();
  await page.getByText("this computer (127.0.0.1)").waitFor();
  await expectGoodLook(page, "agent-consent");
  await button("Deny").click();
  expect((await next()).searchParams.get("error")).toBe("access_denied");

  // Without JavaScript, and as somebody who has to sign in first.
  const plain = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
  await plain.goto(asked.href);
  await plain.getByLabel("Email").fill(owner.email);
  await plain.getByLabel("Password", { exact: true }).fill(owner.password);
  await plain.getByRole("button", { name: "Sign in", exact: true }).click();
  await plain.getByLabel("It can then search and read").selectOption("only the project alpha");
  await plain.getByRole("button", { name: "Approve" }).click();
  const answer = await next();
  await plain.context().close();

  const params = oauth.validateAuthResponse(as, client, answer, state);
  const none = oauth.None();
  const given = await oauth
    .authorizationCodeGrantRequest(as, client, none, params, redirectUri, verifier, {
      ...insecure,
      additionalParameters: { resource },
    })
    .then((response) => oauth.processAuthorizationCodeResponse(as, client, response));
  const call = (access: string, body: object) =>
    oauth.protectedResourceRequest(
      access,
      "POST",
      new URL(resource),
      new Headers({ "Content-Type": "application/json" }),
      JSON.stringify({ jsonrpc: "2.0", id: 1, ...body }),
      insecure,
    );
  const listing = { method: "tools/call", params: { name: "list_recent", arguments: {} } };
  expect(await (await call(given.access_token, listing)).text()).toContain("alpha");

  const renewed = await oauth
    .refreshTokenGrantRequest(as, client, none, given.refresh_token ?? "", insecure)
    .then((response) => oauth.processRefreshTokenResponse(as, client, response));
  expect((await call(renewed.access_token, { method: "tools/list" })).status).toBe(200);

  await open("/devices");
  const row = page.getByRole("list", { name: "Agents" }).getByRole("listitem");
  await row.getByText("sessions of alpha").waitFor();
  await expectGoodLook(page, "agents-connected");
  await row.getByRole("button", { name: "Disconnect", exact: true }).click();
  await row.getByText("Disconnect Claude <b>Code</b>?").waitFor();
  await row.getByRole("button", { name: "Disconnect", exact: true }).click();
  await page.getByText("Let an agent search your sessions:").waitFor();
  await expect(call(renewed.access_token, { method: "tools/list" })).rejects.toThrow();
  expect((await get(server, "/api/cli/session", token)).status).toBe(200);
  expect((await trail(owner.email)).slice(0, 2)).toEqual(["agent_ended", "agent_allowed"]);

  const again = await listen();
  const other = await discover(again.redirectUri);
  const revoked = await oauth
    .revocationRequest(other.as, other.client, none, renewed.refresh_token ?? "", insecure)
    .then(oauth.processRevocationResponse);
  expect(revoked).toBeUndefined();
  close();
  again.close();
  expect(faults).toEqual([]);
});

test("the protocol's conformance suite gets through discovery and the login", async () => {
  const port = await freePort();
  const { client, resource } = await discover(`http://127.0.0.1:${port}/callback`);
  const suite = "tools/node_modules/@modelcontextprotocol/conformance/dist/index.js";
  const given = ["--url", server.url, "--client-id", client.client_id, "--resource", resource, "--port", String(port)];
  const run = spawn(process.execPath, [suite, "authorization", ...given], { stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise((resolve) => run.once("exit", resolve));
  let said = "";
  for (const stream of [run.stdout, run.stderr]) stream.on("data", (part) => (said += part));
  try {
    const asked = () => /^http\S+code_challenge=\S+$/m.exec(said)?.[0] ?? "";
    await expect.poll(asked, { timeout: 20_000 }).not.toBe("");
    await page.goto(asked());
    await button("Approve").click();
    expect(await ended, said).toBe(0);
  } finally {
    run.kill();
  }
  expect(said).toMatch(/authorization-server-metadata-endpoint: [1-9]\d* passed, 0 failed/);
  expect(said).toMatch(/authorization-code-grant: [1-9]\d* passed, 0 failed/);
});
