// OAuth's endpoints speak OAuth: forms in, and errors of its own form (RFC 6749, section 5.2).
import "server-only";
import { OauthError } from "#lib/auth/oauth/errors";
import { type OauthClient, readClient } from "#lib/auth/oauth/registration";
import { SpoorError } from "#lib/errors";
import { getNetwork } from "#lib/http/address";
import { readBody, requireJsonType } from "#lib/http/body";
import { overLimit } from "#lib/http/rate-limit";
import { parseJson } from "#lib/json";
import { limits } from "#lib/limits";

/** The fields of a form, each once. */
export type OauthForm = ReadonlyMap<string, string>;

/**
 * Answers a call of one of the endpoints that anybody may call.
 *
 * @param name what is counted: calls of a network in a minute
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

/** A 401 has one (RFC 9110, section 15.5.2). Clients have no secret, so it names what the rest of the server takes. */
const challenge = 'Bearer realm="spoor"';

/** What no cache may keep: RFC 6749, section 5.1. */
export const noStore = { "Cache-Control": "no-store", Pragma: "no-cache" };

/** @throws OauthError `invalid_request`, SpoorError as `readBody` */
export async function readForm(request: Request): Promise<OauthForm> {
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/x-www-form-urlencoded")
    throw new OauthError("invalid_request", "Content-Type is application/x-www-form-urlencoded.");
  const fields = [...new URLSearchParams((await readBody(request, limits.oauth.bodyBytes)).toString("utf8"))];
  const form = new Map(fields);
  // `resource` may be repeated (RFC 8707, section 2); there is one, so any other one is refused where it is looked at.
  if (form.size < fields.length) throw new OauthError("invalid_request", "A parameter occurs twice.");
  return form;
}

/** @throws OauthError `invalid_client_metadata`, SpoorError as `readBody` */
export async function readMetadata(request: Request): Promise<unknown> {
  requireJsonType(request);
  const bytes = await readBody(request, limits.oauth.bodyBytes);
  try {
    return parseJson(bytes);
  } catch {
    throw new OauthError("invalid_client_metadata", "The body is not JSON.");
  }
}

/** A field that has to be there. @throws OauthError `invalid_request` */
export function getField(form: OauthForm, name: string): string {
  const value = form.get(name);
  if (!value) throw new OauthError("invalid_request", `${name} is missing.`);
  return value;
}

/** The public client of a call. @throws OauthError `invalid_client` */
export const readFormClient = (form: OauthForm): OauthClient => readClient(form.get("client_id"));
