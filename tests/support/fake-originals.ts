import type { IncomingMessage, ServerResponse } from "node:http";
import { sha256 } from "#lib/core/digest";

type Stored = {
  version: string;
  recipient: string;
  files: number;
  plainBytes: number;
  head: string;
  parts: string[];
  machine: string;
  updatedAt: string;
};

type Answer = { status: number; body?: object | Buffer };

const notFound: Answer = { status: 404, body: { ok: false, error: "not_found", detail: "There is nothing here." } };
const failed: Answer = { status: 412, body: { ok: false, error: "precondition_failed", detail: "It has changed." } };
const getFingerprint = (recipient: string) => sha256(recipient).toString("hex").slice(0, 8).toUpperCase();

/** The routes of exact copies, in memory. `wireBytes` counts the bodies that came. */
export function fakeOriginals() {
  const state = {
    recipient: undefined as string | undefined,
    parts: new Map<string, Buffer>(),
    copies: new Map<string, Stored>(),
    scopes: ["ingest", "read", "originals"],
    machine: "m",
    wireBytes: 0,
  };
  let versions = 0;

  function answer({ method = "", url = "", headers }: IncomingMessage, body: Buffer): Answer | undefined {
    const [, path = "", query = ""] = /^\/api\/originals([^?]*)\??(.*)$/.exec(url) ?? [];
    if (!url.startsWith("/api/originals")) return undefined;
    if (!state.scopes.includes("originals")) {
      return {
        status: 403,
        body: { ok: false, error: "access_denied", detail: "The token lacks the scope originals." },
      };
    }
    state.wireBytes += body.length;
    if (path === "") return list(new URLSearchParams(query));
    if (path === "/key") return method === "PUT" ? putKey(headers, body) : getKey();
    const [, hash] = /^\/parts\/([0-9a-f]{64})$/.exec(path) ?? [];
    if (hash !== undefined) return method === "PUT" ? putPart(hash, body) : getPart(hash);
    const [, source = "", sourceId = ""] = path.split("/").map(decodeURIComponent);
    const key = `${source}/${sourceId}`;
    if (method === "PUT") return put(key, headers, body);
    if (method === "DELETE") {
      state.copies.delete(key);
      return { status: 204 };
    }
    const stored = state.copies.get(key);
    if (!stored) return notFound;
    const { recipient, head } = stored;
    const parts = stored.parts.map((one) => ({ sha256: one, bytes: state.parts.get(one)?.length ?? 0 }));
    return { status: 200, body: { ok: true, ...describe(key, stored), recipient, head, parts } };
  }

  const getKey = (): Answer =>
    state.recipient === undefined
      ? notFound
      : { status: 200, body: { ok: true, ...aboutKey(state.recipient), createdAt: new Date().toISOString() } };

  const aboutKey = (recipient: string) => ({ recipient, fingerprint: getFingerprint(recipient) });

  function putKey(headers: IncomingMessage["headers"], body: Buffer): Answer {
    const tag = state.recipient === undefined ? undefined : getFingerprint(state.recipient);
    if (!matches(headers, tag)) return failed;
    state.recipient = (JSON.parse(body.toString()) as { recipient: string }).recipient;
    return getKey();
  }

  const matches = (headers: IncomingMessage["headers"], tag: string | undefined) =>
    tag === undefined ? headers["if-none-match"] === "*" : headers["if-match"] === `"${tag}"`;

  function putPart(hash: string, body: Buffer): Answer {
    const isAge = body.subarray(0, 22).toString() === "age-encryption.org/v1\n";
    if (!isAge || sha256(body).toString("hex") !== hash)
      return { status: 422, body: { ok: false, error: "invalid_part" } };
    const isNew = !state.parts.has(hash);
    state.parts.set(hash, body);
    return { status: isNew ? 201 : 200, body: { ok: true } };
  }

  function getPart(hash: string): Answer {
    const part = state.parts.get(hash);
    return part ? { status: 200, body: part } : notFound;
  }

  function put(key: string, headers: IncomingMessage["headers"], body: Buffer): Answer {
    if (!matches(headers, state.copies.get(key)?.version)) return failed;
    const given = JSON.parse(body.toString()) as Stored;
    const missing = [...new Set(given.parts)].filter((one) => !state.parts.has(one));
    if (missing.length > 0) return { status: 409, body: { ok: false, error: "parts_missing", missing } };
    const version = `v${++versions}`;
    state.copies.set(key, { ...given, version, machine: state.machine, updatedAt: new Date().toISOString() });
    return { status: 200, body: { ok: true, version } };
  }

  function describe(key: string, { version, recipient, files, plainBytes, parts, machine, updatedAt }: Stored) {
    const [source, sourceId] = [key.slice(0, key.indexOf("/")), key.slice(key.indexOf("/") + 1)];
    const storedBytes = parts.reduce((sum, one) => sum + (state.parts.get(one)?.length ?? 0), 0);
    const fingerprint = getFingerprint(recipient);
    return { source, sourceId, version, fingerprint, files, plainBytes, storedBytes, machine, updatedAt };
  }

  function list(query: URLSearchParams): Answer {
    const from = Number(query.get("cursor") ?? 0);
    const all = [...state.copies]
      .reverse()
      .map(([key, one]) => ({ ...describe(key, one), title: null, project: null }));
    const page = all.slice(from, from + 2);
    const nextCursor = from + 2 < all.length ? String(from + 2) : null;
    return { status: 200, body: { ok: true, originals: page, nextCursor } };
  }

  /** @returns whether the request was for exact copies */
  function handle(request: IncomingMessage, response: ServerResponse, body: Buffer): boolean {
    const answered = answer(request, body);
    if (!answered) return false;
    const isBytes = Buffer.isBuffer(answered.body);
    response.writeHead(answered.status, { "Content-Type": isBytes ? "application/octet-stream" : "application/json" });
    response.end(isBytes ? answered.body : answered.body && JSON.stringify(answered.body));
    return true;
  }

  return Object.assign(state, { handle });
}
