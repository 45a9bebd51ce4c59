// Streamable HTTP without sessions: revision 2026-07-28, and those of 2025.
import "server-only";
import type * as Sdk from "@modelcontextprotocol/server";
import { env } from "#lib/core/env";
import { SpoorError } from "#lib/core/errors";
import { log } from "#lib/core/log";
import type { AgentReader } from "#lib/mcp/tools/tool";

export type McpCall = { request: Request; body: unknown; reader: AgentReader };

export type MakeServer = (reader: AgentReader) => Sdk.McpServer;

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

/** Browsers send an origin, agents don't: another site's page must not reach a server on this network. */
function requireOwnOrigin(origin: string | null): void {
  if (origin !== null && origin !== new URL(env().BASE_URL).origin)
    throw new SpoorError("access_denied", "Pages of other sites can't call this.");
}

/** Every client takes JSON, whatever it says. */
function withoutBody({ url, headers: given, signal }: Request): Request {
  const headers = new Headers(given);
  headers.set("Accept", "application/json, text/event-stream");
  headers.delete("Content-Length");
  return new Request(url, { method: "POST", headers, signal });
}

/** No capability announces changes, so a stream would only cost a connection. */
function asksToListen(body: unknown): body is { id?: string | number } {
  return (body as { method?: unknown } | null)?.method === "subscriptions/listen";
}

/** Revision 2026-07-28 requires 404. */
function noSuchMethod(id: string | number | undefined): Response {
  const error = { code: -32601, message: "Method not found" };
  return Response.json({ jsonrpc: "2.0", id: id ?? null, error }, { status: 404 });
}
