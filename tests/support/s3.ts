import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

const require = createRequire(import.meta.url);

/** The store's behavior: the last three read the body, and then refuse, do not answer, or disconnect. */
export type Mood = "well" | "full" | "forbidden" | "silent" | "breaking";

const statuses = { full: 507, forbidden: 403 };

/** Starts an S3 server that stores objects in `folder`, and a proxy that can simulate failures. `stop` ends both. */
export async function startS3() {
  const folder = await mkdtemp(join(tmpdir(), "spoor-s3-"));
  let server = await start(folder);
  let mood: Mood = "well";
  let kept: string | undefined;
  const seen = { requests: 0, atOnce: 0, most: 0 };
  const proxy = createServer(async (incoming, answer) => {
    seen.requests += 1;
    seen.atOnce += 1;
    seen.most = Math.max(seen.most, seen.atOnce);
    answer.on("close", () => {
      seen.atOnce -= 1;
    });
    if (kept !== undefined && incoming.method === "DELETE" && incoming.url?.includes(kept))
      return answer.writeHead(403).end("<Error><Code>AccessDenied</Code></Error>");
    if (mood === "well") return forward(server.port, incoming, answer);
    for await (const _ of incoming);
    if (mood === "breaking") incoming.socket.destroy();
    else if (mood !== "silent") answer.writeHead(statuses[mood]).end(`<Error><Code>${mood}</Code></Error>`);
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const address = proxy.address();
  return {
    folder,
    stop: async () => {
      proxy.closeAllConnections();
      proxy.close();
      server.child.kill("SIGKILL");
      await rm(folder, { recursive: true, force: true });
    },
    settings: {
      UPLOAD_STORE: "s3",
      UPLOAD_S3_BUCKET: "spoor",
      UPLOAD_S3_ENDPOINT: `http://127.0.0.1:${typeof address === "object" && address?.port}`,
      UPLOAD_S3_ACCESS_KEY_ID: "S3RVER",
      UPLOAD_S3_SECRET_ACCESS_KEY: "S3RVER",
    },
    seen,
    setMood: (next: Mood) => {
      mood = next;
    },
    /** Refuses to delete objects whose key contains this. */
    keep: (part: string | undefined) => {
      kept = part;
    },
    kill: async () => {
      server.child.kill("SIGKILL");
      await once(server.child, "exit");
    },
    restart: async () => {
      server = await start(folder);
    },
  };
}

function start(folder: string): Promise<{ child: ChildProcess; port: number }> {
  const words = [
    "--directory",
    folder,
    "--address",
    "127.0.0.1",
    "--port",
    "0",
    "--configure-bucket",
    "spoor",
    "--silent",
  ];
  const child = spawn(process.execPath, [require.resolve("s3rver/bin/s3rver.js"), ...words], {
    // A pipe: with the test's own stderr, a server left running by a failed test would keep the run from ending.
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stderr.pipe(process.stderr, { end: false });
  return new Promise((resolve, reject) => {
    let said = "";
    child.stdout.on("data", (chunk) => {
      said += chunk;
      const port = /listening on \S+:(\d+)/.exec(said)?.[1];
      if (port) resolve({ child, port: Number(port) });
    });
    child.on("exit", () => reject(new Error(`the S3 server did not start: ${said}`)));
  });
}

/** Forwards all headers unchanged, because the Host is part of a request's signature. */
function forward(port: number, incoming: IncomingMessage, answer: ServerResponse): void {
  const { method, url, headers } = incoming;
  const outgoing = request({ host: "127.0.0.1", port, method, path: url, headers, setHost: false }, (from) => {
    answer.writeHead(from.statusCode ?? 502, from.headers);
    from.pipe(answer);
  });
  outgoing.on("error", () => answer.destroy());
  incoming.pipe(outgoing);
}
