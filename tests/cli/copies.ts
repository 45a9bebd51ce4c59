import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import type { Host } from "../../cli/adapters/adapter.ts";
import { encodeHead, encodePart, type Head, hashBytes } from "../../cli/originals/format.ts";
import { createIdentity, type Identity, writeIdentity } from "../../cli/originals/keys.ts";
import { makeHome } from "./home.ts";

type Stored = { source: string; sourceId: string; title: string; project: string; recipient: string; head: string };

/** A file's content, or the pieces in which it was sent. */
type Files = Record<string, string | Buffer | (string | Buffer)[]>;

/** A server with the part of Spoor's API that copies are taken out by. */
export async function startCopies() {
  const parts = new Map<string, Buffer>();
  const copies: Stored[] = [];
  const traces: { id: string; line: Record<string, unknown> }[] = [];
  const files: unknown[] = [];
  const requests: string[] = [];
  const denied = { originals: false };
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://local");
    requests.push(`${request.method} ${request.url}`);
    const answer = find(url);
    if (Buffer.isBuffer(answer)) response.writeHead(200, { "content-type": "application/octet-stream" }).end(answer);
    else {
      const [status, body] = answer ?? [404, { ok: false, error: "not_found", detail: "There is nothing here." }];
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    }
  });

  function find({ pathname, searchParams }: URL): Buffer | [number, object] | undefined {
    const [, , kind, one, two] = pathname.split("/").map(decodeURIComponent);
    if (kind === "originals") {
      if (denied.originals) return [403, { ok: false, error: "access_denied", detail: "No." }];
      if (one === undefined) return [200, { originals: copies.map(list), nextCursor: null }];
      if (one === "parts") return parts.get(two ?? "");
      const copy = copies.find(({ source, sourceId }) => source === one && sourceId === two);
      return copy && [200, { ...list(copy), recipient: copy.recipient, head: copy.head, parts: [] }];
    }
    if (one === "export") {
      const found = traces.find(({ id }) => id === searchParams.get("id"));
      return found && Buffer.from(`${JSON.stringify(found.line)}\n`);
    }
    if (two === "files") return [200, { files }];
    const found = traces.map(({ id, line }) => ({ ...line, messages: undefined, id }));
    if (one !== undefined) {
      const trace = found.find(({ id }) => id === one);
      return trace && [200, { trace }];
    }
    const wanted = (searchParams.get("q") ?? "").toLowerCase();
    const lines = traces.filter(({ line }) => JSON.stringify(line).toLowerCase().includes(wanted));
    return [200, { traces: found.filter(({ id }) => lines.some((line) => line.id === id)), nextCursor: null }];
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const identity = await createIdentity();
  return {
    url,
    identity,
    parts,
    copies,
    traces,
    files,
    requests,
    denied,
    /** A home that may read. */
    async makeHome(content: Parameters<typeof makeHome>[0] = {}, key: Identity | undefined = identity): Promise<Host> {
      const host = await makeHome(content);
      host.env = { SPOOR_URL: url, SPOOR_TOKEN: "spoor_test", PATH: process.env.PATH };
      if (key) await writeIdentity(host, key);
      return host;
    },
    /** Stores a copy as the client sends it. */
    async add(head: Partial<Head> & Pick<Head, "agent" | "sourceId">, content: Files, title = "A session") {
      const list: Head["files"] = [];
      for (const [path, given] of Object.entries(content)) {
        const pieces = (Array.isArray(given) ? given : [given]).map((piece) => Buffer.from(piece));
        const whole = Buffer.concat(pieces);
        const known = [];
        for (const piece of pieces) {
          const { sha256, bytes } = await encodePart(piece, identity.recipient);
          parts.set(sha256, Buffer.from(bytes));
          known.push({ sha256, bytes: piece.length });
        }
        const modifiedAt = "2026-11-01T10:00:00.000Z";
        list.push({ path, bytes: whole.length, sha256: hashBytes(whole), modifiedAt, parts: known });
      }
      const base = {
        format: 1,
        agentVersion: null,
        machine: "desk",
        device: null,
        home: "~",
        cwd: "/home/ada/api",
        git: null,
      } as const;
      const whole: Head = { ...base, writtenAt: "2026-11-01T10:00:00.000Z", files: list, ...head };
      const sealed = Buffer.from(await encodeHead(whole, identity.recipient)).toString("base64");
      const { agent: source, sourceId } = head;
      copies.push({ source, sourceId, title, project: "api", recipient: identity.recipient, head: sealed });
    },
  };
}

const list = ({ source, sourceId, title, project }: Stored) => ({
  ...{ source, sourceId, title, project, updatedAt: "2026-11-01T10:00:00.000Z", machine: "desk", files: 1 },
  ...{ plainBytes: 1000, storedBytes: 500, fingerprint: "4F2A91C0", version: "1" },
});
