import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync, zstdDecompressSync } from "node:zlib";
import { onTestFinished } from "vitest";
import { sha256 } from "#lib/core/digest";
import { fakeOriginals } from "../support/fake-originals.ts";

type Trace = {
  source: string;
  sourceId: string;
  title?: string;
  append?: { count: number };
  replace?: boolean;
  messages: { position: number; content: string; metadata?: Record<string, unknown> }[];
};
type Incomplete = { source: string; sourceId: string; messageCount: number };
type Kept = Incomplete & { reason: string };
type Upload = {
  key: string;
  encoding: string;
  wireBytes: number;
  traces: Trace[];
  incomplete: Incomplete[];
  kept: Kept[];
};

/** In the archive, of a trace that its owner has deleted. */
export const deleted = -1;

/** How the server fails one request; undefined answers it normally. */
type Fault = (
  request: IncomingMessage,
  body: Buffer,
) => { status: number; headers?: Record<string, string>; body?: object } | "hang up" | undefined;

type Options = {
  limits?: Record<string, unknown>;
  job?: (upload: Upload) => object;
  /** Whether it is of a version that takes pictures. */
  takesPictures?: boolean;
};

/**
 * A server with Spoor's API that keeps uploads in memory, and fails as a test asks it to.
 *
 * @returns `archive` has the number of messages of each trace by its key; `uploads` every body that was accepted; `pictures` each by
 * its hash
 */
export async function startFake(options: Options = {}) {
  const state = {
    uploads: [] as Upload[],
    archive: new Map<string, number>(),
    pictures: new Map<string, { mediaType: string; bytes: number }>(),
    telemetry: [] as unknown[],
    requests: [] as string[],
    originals: fakeOriginals(),
  };
  const keys = new Map<string, string>();
  const delivered = { text: "", version: "" };
  let fault: Fault = () => undefined;
  let { takesPictures = true } = options;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readAll(request);
    state.requests.push(`${request.method} ${request.url}`);
    const failing = fault(request, body);
    if (failing === "hang up") return void request.socket.destroy();
    if (failing)
      return send(
        response,
        failing.status,
        failing.body ?? { ok: false, error: "fault", detail: "A fault." },
        failing.headers,
      );
    const path = request.url ?? "";
    if (path === "/api/limits")
      return send(response, 200, { ok: true, ingest: limits, originals: {}, client: describe(delivered) });
    if (path === "/spoor.mjs") return void response.writeHead(200).end(delivered.text);
    if (path === "/api/cli/session")
      return send(response, 200, {
        ok: true,
        userId: "u1",
        user: { name: "Ada", email: "ada@example.org" },
        machine: state.originals.machine,
        scopes: state.originals.scopes,
        expiresAt: "2027-01-01T00:00:00.000Z",
      });
    if (path === "/api/cli/telemetry")
      return send(response, 200, {
        ok: true,
        accepted: state.telemetry.push(JSON.parse(body.toString())),
        forwarded: false,
      });
    if (path === "/api/ingest")
      return send(response, 202, { ok: true, jobId: accept(request, body), status: "queued" });
    if (path.startsWith("/api/pictures/") && takesPictures) return answerPicture(request, response, body);
    if (state.originals.handle(request, response, body)) return;
    const index = Number(path.split("-").at(-1));
    const upload = state.uploads[index];
    if (upload) return send(response, 200, makeJob(upload));
    send(response, 404, { ok: false, error: "not_found", detail: "Not found." });
  }

  const limits = {
    wireBytes: 1 << 26,
    decodedBytes: 1 << 28,
    traces: 1000,
    messagesPerTrace: 50_000,
    contentEncodings: ["gzip", "br", "zstd"],
    ...options.limits,
  };

  function answerPicture({ url = "", headers }: IncomingMessage, response: ServerResponse, body: Buffer): void {
    if (url.endsWith("/missing")) {
      const { hashes } = JSON.parse(body.toString()) as { hashes: string[] };
      const missing = hashes.filter((hash) => !state.pictures.has(hash));
      send(response, 200, { ok: true, missing, maxBytes: 5 * 1024 * 1024 });
      return;
    }
    const hash = sha256(body).toString("hex");
    const isNew = !state.pictures.has(hash);
    state.pictures.set(hash, { mediaType: headers["content-type"] ?? "", bytes: body.length });
    send(response, url.endsWith(hash) ? (isNew ? 201 : 200) : 400, { ok: url.endsWith(hash) });
  }

  function accept(request: IncomingMessage, body: Buffer): string {
    const key = String(request.headers["idempotency-key"]);
    const encoding = String(request.headers["content-encoding"]);
    const plain = encoding === "zstd" ? zstdFrames(body) : gunzipSync(body);
    const { traces } = JSON.parse(plain.toString()) as { traces: Trace[] };
    const known = keys.get(key);
    if (known) return known;
    const kept = traces.flatMap((trace) => keep(trace) ?? []);
    const incomplete = traces.flatMap((trace) => store(trace) ?? []);
    const upload = { key, encoding, wireBytes: body.length, traces, incomplete, kept };
    const jobId = `job-${state.uploads.push(upload) - 1}`;
    keys.set(key, jobId);
    return jobId;
  }

  /** @returns what is stored of a trace that the upload has less of, or that was deleted: it has no messages */
  function keep({ source, sourceId, messages, append, replace }: Trace): Kept | undefined {
    const messageCount = state.archive.get(`${source}/${sourceId}`) ?? 0;
    if (messageCount === deleted) return { source, sourceId, messageCount: 0, reason: "deleted" };
    if (append || replace || messages.length >= messageCount) return undefined;
    return { source, sourceId, messageCount, reason: "shorter" };
  }

  /** Stores a trace as the contract says. @returns what is stored of one that is incomplete */
  function store({ source, sourceId, messages, append, replace }: Trace): Incomplete | undefined {
    const key = `${source}/${sourceId}`;
    const stored = state.archive.get(key) ?? 0;
    if (stored === deleted) return undefined;
    if (!append && (messages.length >= stored || replace)) state.archive.set(key, messages.length);
    if (!append || stored === append.count + messages.length) return undefined;
    if (stored !== append.count) return { source, sourceId, messageCount: stored };
    state.archive.set(key, stored + messages.length);
    return undefined;
  }

  function makeJob(upload: Upload): object {
    const messages = upload.traces.reduce((sum, trace) => sum + trace.messages.length, 0);
    const { incomplete, kept } = upload;
    const [received, left] = [upload.traces.length, incomplete.length];
    const created = received - left - kept.length;
    const traces = { received, created, updated: 0, unchanged: 0, kept: kept.length, incomplete: left };
    const job = {
      ok: true,
      status: "succeeded",
      traces,
      messages: { received: messages, written: messages },
      ...(left > 0 && { incomplete }),
      ...(kept.length > 0 && { kept }),
      error: null,
    };
    return { ...job, ...options.job?.(upload) };
  }

  const server = createServer((request, response) => void answer(request, response));
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  onTestFinished(() => (server.listening ? close() : undefined));
  return {
    ...state,
    url: `http://127.0.0.1:${port}`,
    close,
    listen: () => listen(port),
    /** Delivers a client from now on. */
    deliver: (text: string, version: string) => void Object.assign(delivered, { text, version }),
    failWith(next: Fault) {
      fault = next;
    },
    /** The server is updated to a version that takes pictures. */
    takePictures() {
      takesPictures = true;
    },
  };
}

/** What `/api/limits` says of a client. */
const describe = ({ text, version }: { text: string; version: string }) =>
  text === "" ? null : { version, sha256: sha256(text).toString("hex"), bytes: Buffer.byteLength(text) };

/** Node decodes one frame of a zstd stream at a time. */
function zstdFrames(body: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let rest = body; rest.length > 0; ) {
    const { buffer, engine } = zstdDecompressSync(rest, { info: true }) as unknown as {
      buffer: Buffer;
      engine: { bytesWritten: number };
    };
    parts.push(buffer);
    rest = rest.subarray(engine.bytesWritten);
  }
  return Buffer.concat(parts);
}

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

function send(response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void {
  const type = status < 400 ? "application/json" : "application/problem+json";
  response.writeHead(status, { "Content-Type": type, ...headers }).end(JSON.stringify(body));
}
