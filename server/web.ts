// Next's own server gives a route handler no client address, no time limits and no draining.
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import next from "next";
import { env, setEnv } from "#lib/core/env";
import { limits } from "#lib/core/limits";
import { log } from "#lib/core/log";
import { trustClientAddressHeader } from "#lib/http/address";
import { logConsole } from "#lib/observability/console";
import { flushTracing } from "#lib/observability/tracing";
import { chooseAddresses, listenAt, warnAboutHttp } from "#server/http/listen";
import { serveRequests } from "#server/http/listener";
import { restWhenIdle } from "#server/rest";

const drainMs = 12_000;
process.on("SIGINT", () => {}); // Ctrl-C reaches every process of the terminal; the launcher stops this one
const { PORT, HOST, BASE_URL } = env();
const dev = process.argv.includes("--dev");
const server = createServer({
  headersTimeout: limits.request.headerSeconds * 1000,
  // The largest upload at the slowest pace takes over an hour.
  requestTimeout: limits.request.uploadSeconds * 1000,
  keepAliveTimeout: 30_000,
  maxHeaderSize: limits.request.headerBytes,
  // Other upgrade requests are answered as ordinary ones.
  shouldUpgradeCallback: () => dev,
});
if (!dev) await takeBuiltConfig();
const app = next({ dev, dir: process.cwd(), httpServer: server, port: PORT, hostname: HOST ?? "localhost" });

/** Reading next.config.ts would load the compiler, and 50 MiB with it. */
async function takeBuiltConfig(): Promise<void> {
  const { config } = JSON.parse(await readFile(".next/required-server-files.json", "utf8"));
  setEnv({ __NEXT_PRIVATE_STANDALONE_CONFIG: JSON.stringify(config) });
}

let inFlight = new Set<ServerResponse>();
let closeOthers = (): void => {};

/** It would last as long as its reader, who then asks the next process. */
const isEventStream = (response: ServerResponse) =>
  String(response.getHeader("Content-Type")).startsWith("text/event-stream");

async function stop(): Promise<void> {
  const deadline = performance.now() + drainMs;
  const closed = once(server, "close");
  server.close();
  closeOthers();
  for (const response of inFlight) if (isEventStream(response)) response.destroy();
  while (inFlight.size > 0 && performance.now() < deadline) await sleep(50);
  server.closeAllConnections();
  await closed;
  await app.close();
  await Promise.race([flushTracing().catch(() => {}), sleep(1000)]);
  process.exit(0);
}

process.once("SIGTERM", stop);
process.once("disconnect", stop);

trustClientAddressHeader();
if (!dev) logConsole();
await app.prepare();
inFlight = await serveRequests(server, app.getRequestHandler(), dev);
const warning = warnAboutHttp(BASE_URL);
if (warning) log.warn(warning);
closeOthers = await listenAt(server, PORT, chooseAddresses({ HOST, BASE_URL })).catch((error: Error) => {
  log.fatal({ err: error }, "the web server could not listen");
  process.stderr.write(`Spoor can't listen on port ${PORT}: ${error.message}\n`);
  process.exit(1);
});
restWhenIdle();
process.send?.("ready");
