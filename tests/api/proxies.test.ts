import { request as httpRequest } from "node:http";
import { networkInterfaces } from "node:os";
import { expect, test, vi } from "vitest";
import { pool } from "#lib/db/client";
import { readForm } from "../support/form.ts";
import { get, makeUser, owner, post, provideServer, someAddress } from "../support/server.ts";
import { expectProblem, sessionCookie } from "./client.ts";

const server = await provideServer({ worker: false, environment: { TRUSTED_PROXIES: "" } });

/** Sends the sign-in form to a page as a browser with script does, from another address of this machine. */
async function signInByScript(
  page: string,
  password: string,
  localAddress: string,
  { host = new URL(server.url).host, origin = server.url, more = {} } = {},
): Promise<number> {
  const fields = await readForm(server, "/sign-in");
  const [, action = ""] = /"id":"([0-9a-f]+)"/.exec(JSON.stringify(Object.values(fields)).replaceAll("\\", "")) ?? [];
  expect(action).not.toBe("");
  const body = new FormData();
  for (const [name, value] of Object.entries({ email: owner.email, password, next: "/" }))
    body.set(`_1_${name}`, value);
  body.set("0", JSON.stringify([{}, "$K1"]));
  const { headers, body: bytes } = new Request(server.url, { method: "POST", body });
  const type = headers.get("content-type") ?? "";
  const { port } = new URL(server.url);
  const sent = {
    Host: host,
    "Content-Type": type,
    Origin: origin,
    "Next-Action": action,
    Accept: "text/x-component",
    ...more,
  };
  const options = { host: "127.0.0.1", port, path: page, method: "POST", headers: sent, localAddress };
  const text = Buffer.from(await new Response(bytes).arrayBuffer());
  return new Promise((resolve, reject) => {
    const sending = httpRequest(options);
    sending.once("response", (response) => {
      response.resume().once("end", () => resolve(response.statusCode ?? 0));
    });
    sending.once("error", reject).end(text);
  });
}

test("what Next asks of this server by itself has the address of the request that it is for", async () => {
  const userId = await makeUser();
  const seen = async () => {
    const { rows } = await pool().query(
      "select action, address from audit_event where user_id = $1 and action like 'sign%' order by address",
      [userId],
    );
    return rows;
  };
  // The action of another page, which Next passes on to it, and the page that a sign-in leads to.
  expect(await signInByScript("/docs", "wrong password", "127.0.0.2")).toBe(200);
  expect(await signInByScript("/sign-in", owner.password, "127.0.0.3")).toBe(200);
  // A failed sign-in is recorded after its answer.
  const recorded = [
    { action: "sign_in_failed", address: "127.0.0.2" },
    { action: "signed_in", address: "127.0.0.3" },
  ];
  await vi.waitFor(async () => expect(await seen()).toEqual(recorded), 5000);
  const ready = (await (await get(server, "/api/ready")).json()) as { notes?: string[] };
  expect(ready.notes ?? []).toEqual([]);
});

test("behind a proxy that says https, what Next asks of this server by itself is answered", async () => {
  const failed = async () => {
    const { rows } = await pool().query("select from audit_event where address = '127.0.0.5'");
    return rows.length;
  };
  const more = { "X-Forwarded-Proto": "https" };
  expect(await signInByScript("/docs", "wrong password", "127.0.0.5", { more })).toBe(200);
  await vi.waitFor(async () => expect(await failed()).toBe(1), 5000);
});

test("a proxy that passes on the Host without its port keeps nobody out, and lets no other site in", async () => {
  const signIn = (password: string, origin?: string) =>
    signInByScript("/sign-in", password, "127.0.0.4", { host: "localhost", ...(origin && { origin }) });
  expect(await signIn("wrong password")).toBe(200);
  expect(await signIn(owner.password)).toBe(200);
  for (const other of ["http://localhost:1", "http://localhost.example.org", "null"]) {
    expect([other, await signIn(owner.password, other)]).toEqual([other, 403]);
  }
});

test("a server without TRUSTED_PROXIES ignores the addresses that a request claims", async () => {
  const claims = () => ({
    "X-Forwarded-For": someAddress(),
    "X-Real-IP": someAddress(),
    Forwarded: `for=${someAddress()}`,
    "X-Spoor-Client-Address": someAddress(),
  });
  for (let n = 0; n < 20; n++) {
    expect((await post(server, "/api/cli/device/start", { machine: "m" }, claims())).status).toBe(200);
  }
  await expectProblem(await post(server, "/api/cli/device/start", { machine: "m" }, claims()), 429, "rate_limited");
  const { rows } = await pool().query("select distinct ip_address from device_login");
  expect(rows).toEqual([{ ip_address: "127.0.0.1" }]);
});

test("a proxy that TRUSTED_PROXIES does not name is noted by /api/ready and in the owner's settings, and fails nothing", async () => {
  await fetch(`${server.url}/api/health`, { headers: { "X-Forwarded-For": "203.0.113.7" } });
  const ready = (await (await get(server, "/api/ready")).json()) as { checks: object; notes: string[] };
  expect(ready.notes).toEqual([expect.stringContaining("TRUSTED_PROXIES")]);
  expect(Object.keys(ready.checks)).toEqual(["database", "migrations", "worker"]);
  const settings = await fetch(`${server.url}/settings`, { headers: { Cookie: await sessionCookie(server) } });
  expect([settings.status, await settings.text()]).toEqual([200, expect.stringContaining("TRUSTED_PROXIES")]);
});

test("a server whose BASE_URL is on localhost listens on loopback alone, IPv4 and IPv6", async () => {
  const { port } = new URL(server.url);
  const addresses = Object.values(networkInterfaces()).flatMap((one) => one ?? []);
  const statuses = async (hosts: string[]) =>
    Promise.all(
      hosts.map((host) =>
        fetch(`http://${host}:${port}/api/health`).then(
          ({ status }) => status,
          () => "refused",
        ),
      ),
    );
  const outside = addresses.filter(({ internal, scopeid }) => !internal && !scopeid);
  const hosts = outside.map(({ family, address }) => (family === "IPv6" ? `[${address}]` : address));
  const loopback = addresses.some(({ address }) => address === "::1") ? ["127.0.0.1", "[::1]"] : ["127.0.0.1"];
  expect(await statuses(loopback)).toEqual(loopback.map(() => 200));
  expect(await statuses(hosts)).toEqual(hosts.map(() => "refused"));
});
