import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import { limits } from "#lib/core/limits";
import { type Answer, bearer, openRequest } from "../api/client.ts";
import { bestOfThree, takePulse } from "../support/pulse.ts";
import { provideOwnedServer } from "../support/server.ts";

const BASE_URL = "https://spoor.example.org";
const { server, token } = await provideOwnedServer({
  worker: false,
  environment: { AUTH_RATE_LIMIT: "on", BASE_URL },
});
const { host, port } = new URL(server.url);

/** Sends a path as it is, without following a redirect. */
async function send(path: string, method = "GET", headers: Record<string, string> = {}): Promise<Answer> {
  const { request, answer } = openRequest(server, path, { method, headers });
  request.end();
  return answer;
}

/** The answer to bytes as they are. */
async function sendBytes(bytes: string): Promise<Headers> {
  const socket = connect(Number(port), "localhost");
  socket.write(bytes);
  let text = "";
  for await (const part of socket) text += part;
  const [, ...lines] = text.slice(0, text.indexOf("\r\n\r\n")).split("\r\n");
  return new Headers(lines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1)]));
}

describe("every answer", () => {
  const fixed = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": expect.stringContaining("camera=()"),
    "x-request-id": expect.stringMatching(/^[0-9a-f-]{36}$/),
  };
  const html = new Set<string>();

  function check(name: string, headers: Headers): void {
    const policy = headers.get("content-security-policy") ?? "";
    expect({ name, ...Object.fromEntries(headers) }).toMatchObject({ name, ...fixed });
    expect([name, policy]).toEqual([name, expect.stringContaining("frame-ancestors 'none'")]);
    expect([name, policy]).not.toEqual([name, expect.stringMatching(/unsafe-(inline|eval)/)]);
    const type = headers.get("content-type") ?? "";
    if (/^text\/|\+xml/.test(type)) expect([name, type]).toEqual([name, expect.stringMatching(/charset=utf-8/i)]);
    if (type.startsWith("text/html")) html.add(name);
  }

  test("has the headers that keep other sites out, and a policy", async ({ annotate }) => {
    const signIn = await send("/sign-in");
    const [script] = /\/_next\/static\/[^"]+\.js/.exec(signIn.text) ?? [];
    const paths = [
      "/",
      "/sign-in",
      "/sign-up",
      "/setup?token=x",
      "/docs",
      "/traces",
      "/device?code=X",
      "/shared/nothing",
    ];
    const missing = [
      "/nothing",
      "/%zz",
      "/%E0%A4%A",
      "/a%00b",
      "/_next/x",
      "/_next/static/chunks/missing.js",
      "/index.html",
    ];
    const files = [
      script ?? "",
      "/icon.svg",
      "/agents.svg",
      "/robots.txt",
      "/spoor.mjs",
      "/_next/image?url=%2Ficon.svg&w=64&q=75",
    ];
    const api = ["/api/limits", "/api/health", "/api/ready", "/api/openapi.json", "/api/traces", "/api/traces/export"];
    const others = [
      "/api",
      "/api/nothing",
      "/api/%zz",
      "/api/auth/get-session",
      "/api/auth/nothing",
      "/api/auth/error",
    ];
    const all = [...paths, ...missing, ...files, ...api, ...others];
    for (const path of all) check(path, (await send(path, "GET", bearer(token))).headers);
    for (const method of ["HEAD", "POST", "PUT", "DELETE", "PROPFIND", "OPTIONS"]) {
      for (const path of ["/sign-in", "/nothing", "/api/limits"]) {
        check(`${method} ${path}`, (await send(path, method)).headers);
      }
    }
    expect([...html]).toEqual(expect.arrayContaining(["/sign-in", "/nothing", "/docs"]));
    await annotate(`${all.length + 18} kinds of answers, ${html.size} of them pages`);
  });

  test("makes browsers use https, where users do", async () => {
    for (const path of ["/sign-in", "/api/limits", "/nothing", "/icon.svg"]) {
      expect((await send(path)).headers.get("strict-transport-security")).toBe("max-age=31536000");
    }
  });

  test("of a page has a nonce of 128 random bits, another each time", async () => {
    const readNonce = async () =>
      / 'nonce-([^']+)'/.exec((await send("/sign-in")).headers.get("content-security-policy") ?? "")?.[1] ?? "";
    const [one, other] = [await readNonce(), await readNonce()];
    expect([Buffer.from(one, "base64").length, one === other]).toEqual([16, false]);
    expect(Buffer.from(one, "base64").toString("base64")).toBe(one);
  });

  test("of the image optimizer is 404", async () => {
    for (const url of ["%2Ficon.svg", "http%3A%2F%2F127.0.0.1%2F"]) {
      expect((await send(`/_next/image?url=${url}&w=64&q=75`)).status).toBe(404);
    }
  });
});

test("a server action that another site's page sends is 403, and nothing fails", async ({ annotate }) => {
  const origins = ["https://evil.example", "null", "nonsense", "http://localhost", `https://${host}.evil.example`, ""];
  const kinds: Record<string, string>[] = [
    { "Next-Action": "a".repeat(42), "Content-Type": "text/plain;charset=UTF-8" },
    { "Content-Type": "multipart/form-data; boundary=x" },
    { "Content-Type": "application/x-www-form-urlencoded" },
  ];
  let refused = 0;
  for (const Origin of origins) {
    for (const kind of kinds) {
      for (const path of ["/sign-in", "/settings", "/device", "/nothing"]) {
        const response = await fetch(server.url + path, {
          method: "POST",
          redirect: "manual",
          headers: { Origin, "X-Forwarded-For": "203.0.113.9", ...kind },
          body: '--x\r\nContent-Disposition: form-data; name="$ACTION_ID_a"\r\n\r\n\r\n--x--\r\n',
        });
        const { error } = (await response.json()) as { error: string };
        expect([Origin, path, response.status, error]).toEqual([Origin, path, 403, "access_denied"]);
        expect(response.headers.get("content-type")).toBe("application/problem+json");
        refused++;
      }
    }
  }
  const own = await send("/sign-in", "POST", { Origin: BASE_URL, "X-Forwarded-Host": "spoor.example.org" });
  expect(own.status).not.toBe(403);
  await annotate(`${refused} of ${refused} refused with 403`);
});

test("no spelling of a path leads around the turns of pages, and no form is larger than one is", async ({
  annotate,
}) => {
  const paths = [
    "/api/../docs",
    "/api/%2e%2e/docs",
    "/icon.svg/../docs",
    "/_next/static/.%2E/../docs",
    "/spoor.mjs/..",
    "/./docs",
  ];
  for (const path of paths) {
    const headers = await sendBytes(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    expect([path, headers.get("content-type")]).toEqual([path, "application/problem+json"]);
  }
  const body = "x".repeat(limits.maxPageBodyBytes + 1);
  for (const method of ["POST", "PUT"]) {
    expect((await fetch(`${server.url}/sign-in`, { method, headers: { Origin: BASE_URL }, body })).status).toBe(413);
  }
  await annotate(`${paths.length} of ${paths.length} are missing; a form of ${body.length} bytes is refused`);
});

test("no header and no URL of 15 kB keeps the server from answering", bestOfThree, async ({ annotate }) => {
  const texts = ["a", "1", " ", ", ", "gzip;q=0.1 ,", "a=b; ", "%41", "a&", "-", ":", "[", '"', "a-Google"].map(
    (part) => part.repeat(14_500 / part.length),
  );
  const weight = `gzip;q=0.${"1".repeat(14_500)}x`;
  const names = ["Accept", "Accept-Encoding", "Accept-Language", "Cookie", "If-None-Match", "Range", "User-Agent"];
  const asked = [...names, "X-Forwarded-For", "Referer"].flatMap((name) =>
    [...texts, weight].map((text) => ({ [name]: text })),
  );
  const usual = await takePulse(server, async () => {
    for (const _ of asked) await send("/sign-in");
  });
  const pulse = await takePulse(server, async () => {
    for (const path of ["/sign-in", "/spoor.mjs", "/api/openapi.json"]) {
      for (const headers of asked) await send(path, "GET", headers);
      for (const text of texts) await send(`${path}?${encodeURI(text).slice(0, 14_500)}`);
    }
  });
  await annotate(
    `${3 * (asked.length + texts.length)} requests; health's longest ${pulse.max} ms, with usual ones ${usual.max} ms`,
  );
  expect(pulse.max).toBeLessThan(Math.max(500, 3 * usual.max));
});
