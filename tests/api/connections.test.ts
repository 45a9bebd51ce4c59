import { Agent, request as httpRequest } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { provideOwnedServer, someAddress } from "../support/server.ts";
import { bearer, openSocket, storedUploads, unknownToken } from "./client.ts";

const { server, token } = await provideOwnedServer({ worker: false });

const MiB = 1 << 20;

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
      resolve("no answer within 8 s");
      request.destroy();
    }, 8_000);
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

  async function outcomesOf(body: Uint8Array, more: Record<string, string>, only = refusals()) {
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
    const outcomes = await outcomesOf(Buffer.alloc(bytes, " "), headers);
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
      const body = Buffer.alloc(64 * MiB + over, " ");
      const outcomes = await outcomesOf(body, { "Transfer-Encoding": "chunked" }, [size]);
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

  async function statusesOf(bytes: string, delayMs?: number): Promise<string[]> {
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
      const statuses = await statusesOf(upload(length), delayMs);
      const { jobs, uploads } = await storedUploads();
      // One that got no response may be stored, too, and later.
      if (statuses.includes("202")) expect(jobs).toBeGreaterThan(before.jobs);
      expect(uploads - before.uploads).toBe(jobs - before.jobs);
    }
  });
});
