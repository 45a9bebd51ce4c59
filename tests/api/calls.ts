// What the API takes, from `operations`: every route with its methods, and each operation's call as its example has it.
import { operations } from "#lib/api/operations";
import { scopes } from "#lib/core/fields";
import type { Operation } from "#lib/http/operation";
import { documentedBytes } from "../support/openapi.ts";
import { logIn, type Server, someAddress } from "../support/server.ts";
import { asResponse, bearer, openRequest, sessionCookie } from "./client.ts";

/** An id that no object has. */
export const noId = "01900000-0000-7000-8000-000000000000";

/** The paths at which a route answers as well. */
const aliases: Record<string, Operation["path"]> = {
  "/mcp": "/api/mcp",
  "/.well-known/oauth-protected-resource/mcp": "/api/oauth/resource",
  "/.well-known/oauth-authorization-server": "/api/oauth/server",
};

type Route = { path: string; operation: Operation; methods: string[] };

/** Every route of ours with the methods that it takes. better-auth answers for its own. */
export const routes: Route[] = [...Map.groupBy(operations, ({ path }) => path)].flatMap(([own, ofPath]) => {
  if (own === "/api/auth/{path}") return [];
  const methods = ofPath.flatMap(({ methods, about }) => [
    ...methods,
    ...(methods.includes("GET") && about.head !== false ? ["HEAD"] : []),
  ]);
  const others = Object.keys(aliases).filter((alias) => aliases[alias] === own);
  return [own.replace(/\{\w+\}/g, noId), ...others].flatMap((path) =>
    ofPath.slice(0, 1).map((operation) => ({ path, operation, methods })),
  );
});

/** A path with the given values of its parameters, and of all others ids that no object has. */
export const fillPath = (path: string, values: Record<string, string> = {}) =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? crypto.randomUUID());

/** Returns the condition of a call's example, if it needs one. */
export function getCondition({ about }: Operation): Record<string, string> {
  const { "If-None-Match": condition } = about.headers ?? {};
  return condition ? { "If-None-Match": condition.example } : {};
}

export const fromElsewhere = (address = someAddress()) => ({ "X-Forwarded-For": address });

export type Call = { operation: Operation; method: string };
export type Sending = {
  headers?: Record<string, string | undefined>;
  body?: string | Uint8Array<ArrayBuffer>;
  query?: Record<string, string>;
};

/** What is no JSON in UTF-8. */
export const notJson = ["", "canary", "{", '{"canary":', '{"machine":"canary"} x', new Uint8Array([34, 255, 34])];
/** How a JSON body may be declared: with parameters, and in any case. */
export const jsonTypes = [
  "application/json",
  "application/json; charset=utf-8",
  "Application/JSON;charset=UTF-8",
  "application/json ;x=y",
];
export const otherTypes = [
  "text/plain",
  "application/x-www-form-urlencoded",
  "application/jsonx",
  "application/json-seq",
  "json",
];

/** Input that the example of `invalid_request` refuses. */
export function makeWrong({ operation }: Call): Sending {
  const { wrong, example, raw } = operation.about;
  if (raw) return { body: "other bytes" };
  return example?.body ? { body: JSON.stringify(wrong?.body ?? {}) } : { query: wrong?.query ?? {} };
}

/** What sends the example of any operation to a server, in a user's name, to objects that do not exist. */
export async function provideCalls(server: Server, userId: string, secret: string) {
  const token = await logIn(server, userId, "m", scopes);
  const cookie = await sessionCookie(server);

  function authorization({ auth, about }: Operation): Record<string, string> {
    if (about.secret) return bearer(secret);
    if (auth === "cookie") return { Cookie: cookie, Origin: server.url };
    return auth === "none" ? {} : bearer(token);
  }

  const writeTarget = ({ path, about }: Operation, query = about.example?.query ?? {}) =>
    `${fillPath(path, { path: "sign-out", sha256: documentedBytes(path).sha256 })}?${new URLSearchParams(query)}`;

  /** Makes the call of an operation's example, with what the test wants otherwise. */
  function send({ operation, method }: Call, { headers, body, query }: Sending = {}) {
    const { example, raw } = operation.about;
    const sent =
      body ?? (raw && documentedBytes(operation.path).bytes) ?? (example?.body && JSON.stringify(example.body));
    const type = sent === undefined ? {} : { "Content-Type": raw?.example.type ?? "application/json" };
    const all = { ...fromElsewhere(), ...type, ...getCondition(operation), ...authorization(operation), ...headers };
    const given = Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
    return fetch(server.url + writeTarget(operation, query), {
      method,
      headers: Object.fromEntries(given),
      ...(sent === undefined ? {} : { body: sent as BodyInit }),
    });
  }

  /** As `send`, with a body that is announced and does not come. */
  async function announce({ operation, method }: Call, contentLength: number): Promise<Response> {
    const type = operation.about.raw && { "Content-Type": operation.about.raw.example.type };
    const headers = {
      ...fromElsewhere(),
      ...type,
      ...getCondition(operation),
      ...authorization(operation),
      "Content-Length": String(contentLength),
    };
    const { request, answer } = openRequest(server, writeTarget(operation), { method, headers });
    request.write("{");
    try {
      return asResponse(await answer);
    } finally {
      request.destroy();
    }
  }

  return { token, cookie, send, announce, authorization };
}
