import "server-only";
import { OauthError } from "#lib/auth/oauth/protocol";
import { type OauthClient, readClient } from "#lib/auth/oauth/registration";
import { SpoorError } from "#lib/core/errors";
import { parseJson } from "#lib/core/json";
import { limits } from "#lib/core/limits";
import { getNetwork } from "#lib/http/address";
import { readBody, requireJsonType } from "#lib/http/body";
import { overLimit } from "#lib/http/rate-limit";

export type OauthForm = ReadonlyMap<string, string>;

/**
 * @param name of the rate limit's counter, per network and minute
 * @throws SpoorError `rate_limited`, and as `readBody`
 */
export async function answerOauth(name: string, address: string, work: () => Promise<Response>): Promise<Response> {
  const window = { points: limits.oauth.callsPerMinutePerNetwork, seconds: 60 };
  const wait = await overLimit("oauth", `${name}:${getNetwork(address)}`, window);
  if (wait !== undefined) throw new SpoorError("rate_limited", undefined, { retryAfterSeconds: wait });
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof OauthError)) throw error;
    const body = { error: error.code, error_description: error.message };
    if (error.code !== "invalid_client") return Response.json(body, { status: 400, headers: noStore });
    return Response.json(body, { status: 401, headers: { ...noStore, "WWW-Authenticate": challenge } });
  }
}

/**
 * Required with a 401 (RFC 9110, section 15.5.2). Clients have no secret, so it names the scheme of the rest of the
 * server.
 */
const challenge = 'Bearer realm="spoor"';

/** RFC 6749, section 5.1. */
export const noStore = { "Cache-Control": "no-store", Pragma: "no-cache" };

export async function readForm(request: Request): Promise<OauthForm> {
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/x-www-form-urlencoded")
    throw new OauthError("invalid_request", "Content-Type is application/x-www-form-urlencoded.");
  const fields = [...new URLSearchParams((await readBody(request, limits.oauth.bodyBytes)).toString("utf8"))];
  const form = new Map(fields);
  // Only `resource` may be repeated (RFC 8707, section 2); other values than this server's are refused later.
  if (form.size < fields.length) throw new OauthError("invalid_request", "A parameter occurs twice.");
  return form;
}

export async function readMetadata(request: Request): Promise<unknown> {
  requireJsonType(request);
  const bytes = await readBody(request, limits.oauth.bodyBytes);
  try {
    return parseJson(bytes);
  } catch {
    throw new OauthError("invalid_client_metadata", "The body is not JSON.");
  }
}

export function getField(form: OauthForm, name: string): string {
  const value = form.get(name);
  if (!value) throw new OauthError("invalid_request", `${name} is missing.`);
  return value;
}

export const readFormClient = (form: OauthForm): OauthClient => readClient(form.get("client_id"));
