// Streamable HTTP of the Model Context Protocol without sessions: of its revision 2026-07-28, and of those of 2025.
import "server-only";
import type * as Sdk from "@modelcontextprotocol/server";
import { env } from "#lib/env";
import { SpoorError } from "#lib/errors";
import { log } from "#lib/log";
import type { AgentReader } from "#lib/mcp/tools/tool";

/** A call: what was sent, its body as JSON, and who sent it. */
export type McpCall = { request: Request; body: unknown; reader: AgentReader };

/** Makes the server that answers one call. */
export type MakeServer = (reader: AgentReader) => Sdk.McpServer;

/** Answers calls by servers that `make` makes, one a call. */
export function openTransport(sdk: typeof Sdk, make: MakeServer): (call: McpCall) => Promise<Response> {
  const modern = sdk.createMcpHandler(({ authInfo }) => make(authInfo?.extra as AgentReader), {
    legacy: "reject",
    onerror: (error) => log.debug({ err: error }, "a call of the Model Context Protocol was refused"),
  });
  return async ({ request: given, body, reader }) => {
    requireOwnOrigin(given.headers.get("origin"));
    const request = withoutBody(given);
    if (await sdk.isLegacyRequest(request, body)) return answerLegacy(request, body);
    if (asksToListen(body)) return noSuchMethod(body.id);
    const authInfo = { token: "", clientId: "", scopes: [], extra: { ...reader } };
    return modern.fetch(request, { parsedBody: body, authInfo });

    async function answerLegacy(request: Request, parsedBody: unknown): Promise<Response> {
      const transport = new sdk.WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
      const server = make(reader);
      await server.connect(transport);
      try {
        return await transport.handleRequest(request, { parsedBody });
      } finally {
        await server.close();
      }
    }
  };
}

/** Browsers name the page that calls; agents name none. Another site's page must not reach a server on this network. */
function requireOwnOrigin(origin: string | null): void {
  if (origin !== null && origin !== new URL(env().BASE_URL).origin)
    throw new SpoorError("access_denied", "Pages of other sites may not call this.");
}

/** The request as the SDK needs it. All is answered in JSON, which every client takes, whatever it says. */
function withoutBody({ url, headers: given, signal }: Request): Request {
  const headers = new Headers(given);
  headers.set("Accept", "application/json, text/event-stream");
  headers.delete("Content-Length");
  return new Request(url, { method: "POST", headers, signal });
}

/** Nothing changes while a client is connected, and no capability says so: a stream to wait on would only cost a connection. */
function asksToListen(body: unknown): body is { id?: string | number } {
  return (body as { method?: unknown } | null)?.method === "subscriptions/listen";
}

/** JSON-RPC's error for a method that a server lacks; 2026-07-28 asks for 404 with it. */
function noSuchMethod(id: string | number | undefined): Response {
  const error = { code: -32601, message: "Method not found" };
  return Response.json({ jsonrpc: "2.0", id: id ?? null, error }, { status: 404 });
}
