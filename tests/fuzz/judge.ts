import { type ErrorCode, errorTable } from "#lib/core/errors";
import { type Answer, anyMarker, type Call } from "./requests.ts";

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
/** For requests that Node's parser refuses: the response may be empty and the connection closed. */
const bare = new Set([400, 408, 413, 417, 431]);

/** What is wrong with a response, or undefined. */
export function findFault(call: Call, answer: Answer): string | undefined {
  const { status, text } = answer;
  if (status === 0) return `no answer: ${text}`;
  if (status < 0) return text;
  if (status >= 500 && status !== 503) return `${status}: ${text.slice(0, 300)}`;
  const isRaw = "raw" in call;
  if (status >= 400 && text.includes(anyMarker))
    return `${status} echoes something of the request: ${text.slice(0, 300)}`;
  if (isRaw && bare.has(status) && text === "") return undefined;
  if (/^\/api\/auth(\/|$)/.test(call.path)) return undefined;
  // Broken bytes may request a page.
  if (isRaw && !answer.headers["content-type"]?.includes("json")) return undefined;
  // A path with ".." may name a page.
  if (!/^\/api(\/|$)/.test(new URL(`http://localhost${call.path}`).pathname)) return undefined;
  const method = isRaw ? "" : call.method;
  return faultOfHeaders(answer) ?? (status >= 400 ? faultOfProblem(answer, method) : faultOfSuccess(answer, method));
}

function faultOfHeaders({ status, headers }: Answer): string | undefined {
  if (!uuid.test(headers["x-request-id"] ?? "")) return `${status} has no X-Request-Id`;
  if (headers["cache-control"] !== "no-store") return `${status} has Cache-Control ${headers["cache-control"]}`;
  if ((status === 429 || status === 503) && !(Number(headers["retry-after"]) >= 1))
    return `${status} has no Retry-After`;
  if (status === 401 && !headers["www-authenticate"]?.startsWith("Bearer ")) return "401 has no challenge";
  if (status === 405 && !headers.allow) return "405 has no Allow";
  return undefined;
}

function faultOfProblem({ status, headers, text }: Answer, method: string): string | undefined {
  if (headers["content-type"] !== "application/problem+json") return `${status} is ${headers["content-type"]}`;
  if (method === "HEAD") return undefined;
  const problem = parsed(text);
  if (!problem) return `${status} is no JSON: ${text.slice(0, 200)}`;
  const known = errorTable[problem.error as ErrorCode];
  if (known?.status !== status || problem.status !== status) return `${status} says ${problem.error} ${problem.status}`;
  if (problem.ok !== false || problem.type !== "about:blank" || problem.title !== known.title)
    return `${status}: ${text}`;
  if (problem.requestId !== headers["x-request-id"]) return `${status} has two request ids`;
  if (typeof problem.detail !== "string" || problem.detail.length < 8) return `${status} has no detail`;
  return problem.errors === undefined || (problem.errors as unknown[]).length <= 20 ? undefined : "over 20 errors";
}

function faultOfSuccess({ status, headers, text }: Answer, method: string): string | undefined {
  if (method === "HEAD") return text === "" ? undefined : "HEAD has a body";
  if (status === 204) return undefined;
  if (status !== 200 && status !== 202) return `${status} of ${method}`;
  if (headers["content-type"] === "application/x-ndjson") {
    const lines = text.split("\n").slice(0, -1);
    return lines.every(parsed) ? undefined : "a line of the export is no JSON";
  }
  if (headers["content-type"] !== "application/json") return `${status} is ${headers["content-type"]}`;
  return parsed(text)?.ok === true ? undefined : `${status} is not ok: ${text.slice(0, 200)}`;
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
