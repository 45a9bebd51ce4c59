import { createHash } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { grant } from "#lib/auth/oauth/grants";
import { registerClient } from "#lib/auth/oauth/registration";
import { decideLogin, findLogin } from "#lib/device/login";
import { plainBrowser } from "../support/plain-browser.ts";
import { get, makeUser, owner, post, provideServer, someAddress } from "../support/server.ts";

const server = await provideServer({ worker: false });
const userId = await makeUser();
const browser = plainBrowser(server);

/** A login that its person approved, and whose client has not come for its token. */
async function approved(machine: string): Promise<string> {
  const started = await post(server, "/api/cli/device/start", { machine }, { "X-Forwarded-For": someAddress() });
  const { deviceCode, userCode } = (await started.json()) as Record<"deviceCode" | "userCode", string>;
  await decideLogin(userId, (await findLogin(userId, userCode))?.id ?? "", "approved", operator);
  return deviceCode;
}

async function poll(deviceCode: string): Promise<{ token?: string; error?: string }> {
  return (await get(server, `/api/cli/device/poll?deviceCode=${deviceCode}`)).json();
}

const machines = async () => (await browser.send("/devices")).text;
const revoke = { confirmed: "yes" };

beforeAll(async () => {
  const fields = { email: owner.email, password: owner.password };
  expect((await browser.submit("/sign-in", "Sign in", fields)).status).toBe(303);
});

describe("a login that was approved, until its client comes for the token", () => {
  test("is listed on the page Machines, where its approval can be taken back", async () => {
    const deviceCode = await approved("stealthy-phone");
    expect(await machines()).toContain("stealthy-phone");
    await browser.submit("/devices", "Revoke", revoke);
    expect(await poll(deviceCode)).toMatchObject({ error: "access_denied" });
    expect(await machines()).not.toContain("approved, not connected yet");
  });

  test("ends with every token", async () => {
    const deviceCodes = [await approved("first-phone"), await approved("second-phone")];
    await browser.submit("/devices", "Revoke all", {});
    for (const deviceCode of deviceCodes) expect(await poll(deviceCode)).toMatchObject({ error: "access_denied" });
  });

  test("ends where its client came while the person was asked", async () => {
    const deviceCode = await approved("quick-phone");
    const form = await browser.open("/devices", "Revoke");
    const { token = "" } = await poll(deviceCode);
    expect((await get(server, "/api/cli/session", token)).status).toBe(200);
    await browser.sendForm("/devices", form, revoke);
    expect((await get(server, "/api/cli/session", token)).status).toBe(401);
  });
});

test("an agent that was let in is listed before it comes for its token, and can be disconnected", async () => {
  const redirectUri = "http://127.0.0.1/callback";
  const client = registerClient({ client_name: "Waiting agent", redirect_uris: [redirectUri] });
  const challenge = createHash("sha256").update("verifier").digest("base64url");
  const code = await grant(userId, { client, redirectUri, challenge, project: null }, operator);
  expect(await machines()).toContain("Waiting agent");
  await browser.submit("/devices", "Disconnect", revoke);
  const form = { grant_type: "authorization_code", code, code_verifier: "verifier", client_id: client.id };
  const refused = await fetch(`${server.url}/api/oauth/token`, { method: "POST", body: new URLSearchParams(form) });
  expect(await refused.json()).toMatchObject({ error: "invalid_grant" });
});
