import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll } from "vitest";
import { acceptBatch } from "#lib/ingest/accept/batch";
import { getJob } from "#lib/ingest/jobs";
import { runJob } from "#lib/ingest/process/run-job";

const limits = {
  wireBytes: 1 << 26,
  decodedBytes: 1 << 28,
  traces: 1000,
  messagesPerTrace: 50_000,
  contentEncodings: ["gzip", "zstd"],
};

/** The routes that a client sends through, on a database and without the built server. @returns its address */
export async function serveIngest(userId: string): Promise<string> {
  async function answer(request: IncomingMessage): Promise<[status: number, body: object]> {
    const path = request.url ?? "";
    if (path === "/api/limits") return [200, { ok: true, ingest: limits, client: null }];
    if (path === "/api/cli/session") {
      const user = { name: "Ada", email: "ada@example.org" };
      return [200, { ok: true, userId, user, machine: "m", expiresAt: "2099-01-01T00:00:00.000Z" }];
    }
    if (request.method !== "POST") return [200, await getJob(userId, path.split("/").at(-1) ?? "")];
    const encoding = request.headers["content-encoding"] as "gzip" | "zstd";
    const key = request.headers["idempotency-key"] as string;
    const jobId = await acceptBatch({ userId, machine: "m" }, await makeBody(request), encoding, key);
    await runJob({ userId, jobId });
    return [202, { ok: true, jobId, status: "queued" }];
  }

  const server = createServer((request, response) => {
    answer(request).then(
      ([status, body]) => send(response, status, body),
      (error) => send(response, 500, { ok: false, error: "internal", detail: String(error) }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterAll(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const send = (response: ServerResponse, status: number, body: object) =>
  void response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));

async function makeBody(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
}
