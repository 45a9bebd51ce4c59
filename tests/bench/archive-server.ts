// A server with Spoor's API that stores nothing and counts what it is sent, for measuring the client alone.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { defaultLimits } from "../../cli/server/limits.ts";

let [bytes, jobs] = [0, 0];
const account = {
  ok: true,
  userId: "u1",
  user: { name: "Ada", email: "ada@example.org" },
  machine: "m",
  expiresAt: "2099-01-01T00:00:00.000Z",
};
const traces = { received: 1, created: 1, updated: 0, unchanged: 0, kept: 0, incomplete: 0 };
const done = { ok: true, status: "succeeded", traces, messages: { received: 1, written: 1 }, error: null };

function answer(path: string): object {
  if (path === "/stats") return { bytes, jobs };
  if (path === "/api/limits") return { ok: true, ingest: { ...defaultLimits, contentEncodings: ["gzip", "zstd"] } };
  if (path === "/api/cli/session") return account;
  if (path === "/api/ingest") return { ok: true, jobId: `job-${++jobs}`, status: "queued" };
  return path === "/api/cli/telemetry" ? { ok: true, accepted: 1, forwarded: false } : done;
}

const server = createServer(async (request, response) => {
  const { url = "", rawHeaders } = request;
  if (url !== "/stats") bytes += rawHeaders.join(": ").length + url.length;
  for await (const part of request) bytes += (part as Buffer).length;
  response.writeHead(url === "/api/ingest" ? 202 : 200, { "Content-Type": "application/json" });
  response.end(JSON.stringify(answer(url)));
});
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
process.once("disconnect", () => process.exit());
