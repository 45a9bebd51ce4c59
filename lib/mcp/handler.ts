// Answers calls of the Model Context Protocol over HTTP: of its revision 2026-07-28, and of those of 2025, without sessions.
import "server-only";
import { env } from "#lib/env";
import { SpoorError } from "#lib/errors";
import { overLimit } from "#lib/http/rate-limit";
import { limits } from "#lib/limits";
import { log } from "#lib/log";
import { serverMaker } from "#lib/mcp/server";
import type { Reader } from "#lib/mcp/tools/tool";

type Handle = (request: Request, body: unknown, reader: Reader) => Promise<Response>;

let loaded: Promise<Handle> | undefined;

/**
 * Answers one call of a person's agent.
 *
 * @param body the request's JSON, one object.
 * @throws SpoorError `access_denied` for another site's page, `rate_limited`
 */
export async function answerCall(request: Request, body: unknown, reader: Reader): Promise<Response> {
  requireOwnOrigin(request.headers.get("origin"));
  const wait = await overLimit("mcp", reader.userId, { points: limits.mcp.callsPerMinutePerUser, seconds: 60 });
  if (wait !== undefined) throw new SpoorError("rate_limited", undefined, { retryAfterSeconds: wait });
  loaded ??= load();
  const handle = await loaded;
  return handle(request, body, reader);
}

/** Browsers name the page that calls; agents name none. Another site's page must not reach a server on this network. */
function requireOwnOrigin(origin: string | null): void {
  if (origin !== null && origin !== new URL(env().BASE_URL).origin)
    throw new SpoorError("access_denied", "Pages of other sites may not call this.");
}

/** Loads the SDK: about a megabyte that no other route needs. */
async function load(): Promise<Handle> {
  const sdk = await import("@modelcontextprotocol/server");
  const make = serverMaker(sdk, "1");
  const modern = sdk.createMcpHandler(({ authInfo }) => make(authInfo?.extra as Reader), {
    legacy: "reject",
    // Nothing changes while a client is connected, so there is nothing to wait for.
    maxSubscriptions: 0,
    onerror: (error) => log.debug({ err: error }, "a call of the Model Context Protocol was refused"),
  });
  return async (given, parsedBody, reader) => {
    const request = withoutBody(given);
    if (!(await sdk.isLegacyRequest(request, parsedBody)))
      return modern.fetch(request, {
        parsedBody,
        authInfo: { token: "", clientId: "", scopes: [], extra: { ...reader } },
      });
    const transport = new sdk.WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    const server = make(reader);
    await server.connect(transport);
    try {
      return await transport.handleRequest(request, { parsedBody });
    } finally {
      await server.close();
    }
  };
}

/** The request as the SDK needs it. All is answered in JSON, which every client takes, whatever it says. */
function withoutBody({ url, headers: given, signal }: Request): Request {
  const headers = new Headers(given);
  headers.set("Accept", "application/json, text/event-stream");
  headers.delete("Content-Length");
  return new Request(url, { method: "POST", headers, signal });
}
