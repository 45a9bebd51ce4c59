import { expect, test } from "vitest";
import { provideInterruptibleServer } from "../support/outage.ts";
import { get, logIn, makeUser, post } from "../support/server.ts";
import { bearer, expectProblem, sessionCookie, unknownToken } from "./client.ts";

const { server, secret, interrupt } = await provideInterruptibleServer();
const token = await logIn(server, await makeUser());
const cookie = await sessionCookie(server);
interrupt();

/** A query would end as a 503 here, so a 401 is given without one. */
async function expectRefusal(path: string, headers: Record<string, string>, error: string, method = "GET") {
  await expectProblem(await fetch(server.url + path, { method, headers }), 401, error);
}

test("what needs the database is a 503", async () => {
  expect((await get(server, "/api/ready")).status).toBe(503);
  for (const headers of [bearer(token), bearer(unknownToken()), { Cookie: cookie }]) {
    await expectProblem(await fetch(`${server.url}/api/traces`, { headers }), 503, "unavailable");
  }
  await expectProblem(await post(server, "/api/ingest", { traces: [] }, bearer(token)), 503, "unavailable");
  await expectProblem(await get(server, "/api/cron", secret), 503, "unavailable");
  expect(await (await get(server, "/api/metrics", secret)).text()).toContain("spoor_database_up 0");
});

test("metrics and cron refuse a wrong and a missing secret without a query", async () => {
  for (const [path, method] of [
    ["/api/metrics", "GET"],
    ["/api/cron", "GET"],
    ["/api/cron", "POST"],
  ] as const) {
    for (const none of [{}, bearer("")]) await expectRefusal(path, none, "missing_token", method);
    for (const wrong of [`${secret}x`, token, unknownToken()]) {
      await expectRefusal(path, bearer(wrong), "invalid_token", method);
    }
  }
});

test("a token with a wrong checksum, and none, are refused without a query", async () => {
  const other = token.endsWith("0") ? "1" : "0";
  const misspelt = [token.slice(0, -1) + other, token.replace("spoor_", "spoon_"), `${token}0`, "spoor_", "x"];
  for (const path of ["/api/traces", "/api/cli/session"]) {
    for (const wrong of misspelt) await expectRefusal(path, bearer(wrong), "invalid_token");
    await expectRefusal(path, {}, "missing_token");
  }
  await expectRefusal(
    "/api/ingest",
    { ...bearer(misspelt[0] ?? ""), "Content-Type": "application/json" },
    "invalid_token",
    "POST",
  );
});

test("health, limits and the API's description are answered as ever", async () => {
  for (const path of ["/api/health", "/api/limits", "/api/openapi.json", "/docs"]) {
    expect([path, (await get(server, path)).status]).toEqual([path, 200]);
  }
});
