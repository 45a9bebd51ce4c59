import { networkInterfaces } from "node:os";
import { expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { get, makeUser, post, provideServer, someAddress } from "../support/server.ts";
import { expectProblem, sessionCookie } from "./client.ts";

const server = await provideServer({ worker: false, environment: { TRUSTED_PROXIES: "" } });

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
  await makeUser();
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
