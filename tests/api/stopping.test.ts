import { afterAll, expect, test } from "vitest";
import { openSetup } from "#lib/auth/setup";
import { setEnv } from "#lib/core/env";
import { freePort } from "#lib/db/embedded/ports";
import { SpoorProcess } from "../faults/process.ts";
import { getUploads } from "../jobs/uploads.ts";
import { freshDatabase, testEnvironment } from "../support/database.ts";
import { logIn, makeUser, setupToken } from "../support/server.ts";
import { bearer } from "./client.ts";

const database = await freshDatabase();
const port = await freePort();
const url = `http://localhost:${port}`;
const environment = {
  ...testEnvironment,
  ...{ DATABASE_URL: database.url, PORT: String(port), BASE_URL: url, SETUP_TOKEN: setupToken, NODE_ENV: "production" },
};
setEnv(environment);
await openSetup();
const userId = await makeUser();
const web = new SpoorProcess("web", environment);
afterAll(async () => {
  await web.kill();
  await database.drop();
});

test("a server that stops ends streams of events at once, which would last as long as their readers", async () => {
  await web.ready();
  const { send, findId } = getUploads(userId);
  await send({ sourceId: "open", messages: [{ position: 0, content: "hello" }] });
  const token = await logIn({ url, stop: async () => {} }, userId, "laptop", ["read"]);
  const headers = { ...bearer(token), Accept: "text/event-stream" };
  const stream = await fetch(`${url}/api/traces/${await findId("open")}/growth?after=0`, { headers });
  expect(stream.headers.get("content-type")).toBe("text/event-stream");
  const reading = stream.text().catch((error) => error);
  const began = performance.now();
  web.signal("SIGTERM");
  expect((await web.ended()).code).toBe(0);
  expect(performance.now() - began).toBeLessThan(6000);
  expect(await reading).toBeInstanceOf(Error);
});
