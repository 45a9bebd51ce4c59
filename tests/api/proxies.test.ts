import { expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { post, provideServer, someAddress } from "../support/server.ts";
import { expectProblem } from "./client.ts";

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
