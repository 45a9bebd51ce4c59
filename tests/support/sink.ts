import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request as a sink received it. */
type Got = { method: string; path: string; headers: IncomingHttpHeaders; body: string };

type Answer = (response: ServerResponse, got: Got) => void;

export const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (response) =>
    void response.writeHead(code, headers).end("{}");

/**
 * A real HTTP server on loopback that receives telemetry and responds with `answer`, at first 200.
 *
 * @param port a free one by default.
 */
export async function startSink(port = 0) {
  const got: Got[] = [];
  const sink = {
    got,
    answer: status(200) as Answer,
    /** The maximum number of concurrent requests so far. */
    atOnce: 0,
    url: "",
    port: 0,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  let open = 0;
  const server = createServer(async (request, response) => {
    open += 1;
    sink.atOnce = Math.max(sink.atOnce, open);
    response.once("close", () => {
      open -= 1;
    });
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    const one = { method: request.method ?? "", path: request.url ?? "", headers: request.headers, body };
    got.push(one);
    sink.answer(response, one);
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  sink.port = (server.address() as AddressInfo).port;
  sink.url = `http://127.0.0.1:${sink.port}`;
  return sink;
}
