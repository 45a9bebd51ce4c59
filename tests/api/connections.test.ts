import { Agent, request as httpRequest } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { provideOwnedServer, someAddress } from "../support/server.ts";
import { bearer, openSocket, storedUploads, unknownToken } from "./client.ts";

const MiB = 1 << 20;
const cap = 4 * MiB;
const environment = { INGEST_MAX_WIRE_BYTES: String(cap) };
const { server, token } = await provideOwnedServer({ worker: false, environment });

/** One request on an agent's connection, its body sent without waiting. @returns the status, or the error */
function call(
  agent: Agent,
  path: string,
  headers: Record<string, string> = {},
  body?: Uint8Array,
): Promise<number | string> {
  return new Promise((resolve) => {
    const request = httpRequest(server.url + path, { method: body ? "POST" : "GET", headers, agent }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode ?? 0));
    });
    const late = setTimeout(() => {
      resolve("no answer within 30 s");
      request.destroy();
    }, 30_000);
    request.on("close", () => clearTimeout(late));
    request.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    request.end(body);
  });
}

describe("a request that is refused before its whole body was read", () => {
  const json = { "Content-Type": "application/json" };
  const refusals = (): [name: string, status: number, path: string, headers: Record<string, string>][] => [
    ["for its token", 401, "/api/ingest", { ...json, ...bearer(unknownToken()) }],
    ["for its type", 415, "/api/ingest", bearer(token)],
    ["for its encoding", 415, "/api/ingest", { ...json, ...bearer(token), "Content-Encoding": "lz4" }],
    ["for its size", 413, "/api/cli/device/start", { ...json, "X-Forwarded-For": someAddress() }],
    ["for its method", 405, "/api/limits", json],
    ["for its path", 404, "/api/nothing", json],
  ];

  async function readOutcomes(body: Uint8Array, more: Record<string, string>, only = refusals()) {
    const outcomes = [];
    for (const [name, expected, path, headers] of only) {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const first = await call(agent, path, { ...headers, ...more }, body);
      const next = await call(agent, "/api/health");
      agent.destroy();
      outcomes.push({ name, expected, first, next });
    }
    return outcomes;
  }

  test.each([
    [100_000, "with its length", {}],
    [100_000, "in chunks", { "Transfer-Encoding": "chunked" }],
    [5 * MiB, "with its length", {}],
    [5 * MiB, "in chunks", { "Transfer-Encoding": "chunked" }],
  ])("of %i bytes %s is answered, and so is the next on the connection", async (bytes, _how, headers) => {
    const outcomes = await readOutcomes(Buffer.alloc(bytes, " "), headers);
    expect(outcomes).toEqual(outcomes.map((one) => ({ ...one, first: one.expected, next: 200 })));
  });

  // The excess over the cap decides whether the client is still sending when the response arrives.
  test.each([1, 1000, 100_000, MiB, 8 * MiB])(
    "for %i bytes over the cap, in chunks, is answered, and so is the next",
    async (over) => {
      const size: ReturnType<typeof refusals>[number] = [
        "for its size",
        413,
        "/api/ingest",
        { ...json, ...bearer(token) },
      ];
      const body = Buffer.alloc(cap + over, " ");
      const outcomes = await readOutcomes(body, { "Transfer-Encoding": "chunked" }, [size]);
      expect(outcomes).toEqual(outcomes.map((one) => ({ ...one, first: one.expected, next: 200 })));
    },
  );
});

describe("a whole upload with bytes behind it that are no HTTP", () => {
  const upload = (length: number) => {
    const body = JSON.stringify({
      traces: [{ sourceId: "x", messages: [{ position: 0, content: "x".repeat(length) }] }],
    });
    const head = ["POST /api/ingest HTTP/1.1", "Host: localhost", `Authorization: Bearer ${token}`];
    const headers = [...head, "Content-Type: application/json", `Content-Length: ${body.length}`];
    return `${headers.join("\r\n")}\r\n\r\n${body}`;
  };

  async function getStatuses(bytes: string, delayMs?: number): Promise<string[]> {
    const { socket, ended } = await openSocket(server);
    if (delayMs === undefined) socket.write(`${bytes}junk`);
    else {
      socket.write(bytes);
      await sleep(delayMs);
      socket.write("junk");
    }
    return [...(await ended).matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status = ""]) => status);
  }

  test.each([undefined, 0, 8, 100])("is stored if it is acknowledged (%s ms later)", async (delayMs) => {
    for (const length of [10, 469_000]) {
      const before = await storedUploads();
      const statuses = await getStatuses(upload(length), delayMs);
      const { jobs, uploads } = await storedUploads();
      // One that got no response may be stored, too, and later.
      if (statuses.includes("202")) expect(jobs).toBeGreaterThan(before.jobs);
      expect(uploads - before.uploads).toBe(jobs - before.jobs);
    }
  });
});

/** What came back on a bare connection, as a response. */
function parseResponse(raw: string): Response {
  const [head = "", ...rest] = raw.split("\r\n\r\n");
  const [first = "", ...lines] = head.split("\r\n");
  const headers = new Headers(lines.map((line) => [line.split(": ", 1)[0] ?? "", line.slice(line.indexOf(": ") + 2)]));
  const body = rest.join("\r\n\r\n");
  // Of a chunked body the sizes stand on lines of their own.
  const text = headers.has("transfer-encoding") ? body.replace(/(?:^|\r\n)[0-9a-f]+\r\n/g, "") : body;
  return new Response(text, { status: Number(first.split(" ")[1]), headers });
}

/** Sends bytes as they are. */
async function exchange(bytes: string): Promise<Response> {
  const { socket, ended } = await openSocket(server);
  socket.write(bytes);
  return parseResponse(await ended);
}

describe("what Node's parser refuses is answered by Node, and the connection is closed", () => {
  test.each([
    ["an unknown method", 400, "FOO /api/limits HTTP/1.1\r\nHost: localhost\r\n\r\n"],
    ["bytes that are no HTTP", 400, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"],
    ["a header without a colon", 400, "GET /api/limits HTTP/1.1\r\nHost: localhost\r\nnonsense\r\n\r\n"],
    ["two lengths", 400, "POST /api/ingest HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"],
    ["no Host", 400, "GET /api/limits HTTP/1.1\r\nConnection: close\r\n\r\n"],
    ["a head of over 16 KiB", 431, `GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: ${"x".repeat(20_000)}\r\n\r\n`],
  ])("%s", async (_, status, bytes) => {
    const response = await exchange(bytes);
    expect([response.status, (await response.text()).trim()]).toEqual([status, ""]);
  });

  test("CONNECT gets no answer", async () => {
    const { socket, ended } = await openSocket(server);
    socket.write("CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n\r\n");
    expect(await ended).toBe("");
  });
});
