import "server-only";
import { SpoorError } from "#lib/core/errors";
import { limits } from "#lib/core/limits";
import { overLimit } from "#lib/http/rate-limit";
import { serverMaker } from "#lib/mcp/server";
import type { AgentReader } from "#lib/mcp/tools/tool";
import { type McpCall, openTransport } from "#lib/mcp/transport";

let loaded: Promise<(call: McpCall) => Promise<Response>> | undefined;

/** @throws SpoorError `access_denied` for another site's page, `rate_limited` */
export async function answerCall(request: Request, body: unknown, reader: AgentReader): Promise<Response> {
  const wait = await overLimit("mcp", reader.userId, { points: limits.mcp.callsPerMinutePerUser, seconds: 60 });
  if (wait !== undefined) throw new SpoorError("rate_limited", undefined, { retryAfterSeconds: wait });
  loaded ??= load();
  const answer = await loaded;
  return answer({ request, body, reader });
}

/** The SDK is about a megabyte that no other route needs. */
async function load() {
  const sdk = await import("@modelcontextprotocol/server");
  return openTransport(sdk, serverMaker(sdk, "1"));
}
