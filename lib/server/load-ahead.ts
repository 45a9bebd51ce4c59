import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, request } from "node:http";
import { duplexPair } from "node:stream";
import { buffer } from "node:stream/consumers";

/**
 * Has Next load what every request needs, half a second's work, by a first request that comes over no network: before the server
 * listens, while the database is still being made.
 *
 * @param handle Next's handler of requests.
 */
export async function loadAhead(handle: RequestListener): Promise<void> {
  const [near, far] = duplexPair();
  createServer(handle).emit("connection", far);
  const asked = request({ path: "/api/health", createConnection: () => near });
  asked.end();
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  await buffer(response);
}
