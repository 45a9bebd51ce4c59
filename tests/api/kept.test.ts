import { request } from "node:http";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { provideServer } from "../support/server.ts";

const server = await provideServer({ worker: false });

type Answer = { status: number | undefined; headers: Record<string, unknown>; body: Buffer };

/** Asks without what `fetch` adds and decodes. */
const ask = (path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const asked = request(server.url + path, { method, headers, agent: false }, async (response) =>
      resolve({ status: response.statusCode, headers: response.headers, body: await buffer(response) }),
    );
    asked.once("error", reject).end();
  });

const [script = ""] = /\/_next\/static\/[^"]+\.js/.exec((await ask("/sign-in")).body.toString()) ?? [];

test.each(["/api/openapi.json", "/spoor.mjs"])("%s is compressed once, and not sent to who has it", async (path) => {
  const plain = await ask(path);
  expect([plain.status, plain.headers["content-encoding"]]).toEqual([200, undefined]);
  for (const accepted of ["gzip", "br, gzip;q=0.8", "gzip, deflate, br"]) {
    const { status, headers, body } = await ask(path, { "Accept-Encoding": accepted });
    expect([status, headers["content-encoding"], headers.etag]).toEqual([200, "gzip", plain.headers.etag]);
    expect(gunzipSync(body).equals(plain.body)).toBe(true);
    // Level 9, which Next's own compression of each response does not take.
    expect(body[8]).toBe(2);
  }
  expect((await ask(path, { "Accept-Encoding": "gzip;q=0, br" })).headers["content-encoding"]).toBeUndefined();
  expect(plain.headers.vary).toContain("Accept-Encoding");
  const etag = String(plain.headers.etag);
  for (const known of [etag, etag.replace("W/", ""), `"another", ${etag}`, "*"]) {
    const again = await ask(path, { "If-None-Match": known, "Accept-Encoding": "gzip" });
    expect([known, again.status, again.body.length, again.headers.etag]).toEqual([known, 304, 0, etag]);
  }
  expect((await ask(path, { "If-None-Match": '"another"' })).status).toBe(200);
  const head = await ask(path, { "Accept-Encoding": "gzip" }, "HEAD");
  expect([head.status, head.headers["content-encoding"], head.body.length]).toEqual([200, "gzip", 0]);
});

test.each(["/agents.svg", script])("the file %s is compressed, and not sent to who has it", async (path) => {
  const plain = await ask(path);
  const { status, headers, body } = await ask(path, { "Accept-Encoding": "gzip, deflate, br" });
  expect([status, headers["content-encoding"], headers.vary]).toEqual([200, "gzip", "Accept-Encoding"]);
  expect(gunzipSync(body).equals(plain.body)).toBe(true);
  const again = await ask(path, { "If-None-Match": String(plain.headers.etag), "Accept-Encoding": "gzip" });
  expect([again.status, again.body.length]).toEqual([304, 0]);
});

test("a file is sent whole where a range of it is asked for, however its name is written", async () => {
  const whole = await ask(script);
  const escaped = script.replace(/[^/](?=\.js$)/, (letter) => `%${letter.charCodeAt(0).toString(16)}`);
  for (const path of [script, escaped]) {
    for (const range of ["bytes=0-0", "bytes=99999999-", "bytes=0-1,2-3"]) {
      const { status, headers, body } = await ask(path, { Range: range });
      expect([status, headers["cache-control"]]).toEqual([200, "public, max-age=31536000, immutable"]);
      expect(body.equals(whole.body)).toBe(true);
    }
  }
});

test("the API's page has its reference once, and not again for a script", async () => {
  const { body } = await ask("/docs");
  const count = (words: string) => body.toString().split(words).length - 1;
  expect(count('data-copy="command"')).toBeGreaterThan(20);
  expect(count(`BASE=${server.url}`)).toBe(count('data-copy="command"'));
});
