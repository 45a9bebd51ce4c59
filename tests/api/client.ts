import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { crc32 } from "node:zlib";
import { expect } from "vitest";
import { pool } from "#lib/db/client";
import { isLong } from "../support/long.ts";
import { owner, type Server } from "../support/server.ts";

export type Problem = {
  status: number;
  detail: string;
  error: string;
  errors?: { path: string; message: string }[];
  requestId: string;
};

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** The headers of every response of an API route. */
export function expectApiHeaders(headers: Headers): void {
  expect(headers.get("x-request-id")).toMatch(uuid);
  expect(headers.get("cache-control")).toBe("no-store");
}

/** Checks that a response is an error exactly as the contract shapes it. */
export async function expectProblem(response: Response, status: number, error: string): Promise<Problem> {
  const text = await response.text();
  expect(`${response.status} ${text.slice(0, 500)}`).toMatch(new RegExp(`^${status} `));
  expect(response.headers.get("content-type")).toBe("application/problem+json");
  expectApiHeaders(response.headers);
  const problem = JSON.parse(text) as Problem;
  expect(problem).toEqual({
    ok: false,
    type: "about:blank",
    title: expect.stringMatching(/^[A-Z]/),
    status,
    detail: expect.stringMatching(/.{8}/),
    error,
    ...(problem.errors ? { errors: expect.any(Array) } : {}),
    requestId: response.headers.get("x-request-id"),
  });
  for (const one of problem.errors ?? [])
    expect(one).toEqual({ path: expect.any(String), message: expect.any(String) });
  expect(problem.errors?.length ?? 1).toBeLessThanOrEqual(20);
  if (status === 429 || status === 503) expect(Number(response.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  return problem;
}

/** An error's body without what differs from one request to the next. */
export async function withoutRequestId(response: Response): Promise<object> {
  const { requestId, ...rest } = (await response.json()) as Problem;
  return { ...rest, challenge: response.headers.get("www-authenticate"), hasRequestId: requestId.length === 36 };
}

export const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

/** What sends a body as it is to `POST /api/ingest`. */
export const makeSender =
  (server: Server, token: string) =>
  (body: Uint8Array<ArrayBuffer> | string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${server.url}/api/ingest`, {
      method: "POST",
      headers: { ...bearer(token), "Content-Type": "application/json", ...headers },
      body,
    });

/** Checks that an upload was taken. @returns its job's id */
export async function accepted(response: Response): Promise<string> {
  const body = (await response.json()) as { jobId: string };
  expect([response.status, body]).toEqual([202, { ok: true, jobId: expect.stringMatching(uuid), status: "queued" }]);
  expect(response.headers.get("location")).toBe(`/api/ingest/${body.jobId}`);
  return body.jobId;
}

/** How many rows each table of an upload has. */
export async function storedUploads(): Promise<{ jobs: number; uploads: number; queued: number }> {
  const { rows } = await pool().query(
    `select (select count(*)::int from ingest_job) as jobs, (select count(*)::int from upload) as uploads,
            (select count(*)::int from pgboss.job where name = 'ingest') as queued`,
  );
  return rows[0];
}

/** Signs the owner in as a browser does. @returns the response */
export function signIn(
  server: Server,
  { email, password } = owner,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${server.url}/api/auth/sign-in/email`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Origin: server.url, ...headers },
    body: JSON.stringify({ email, password }),
  });
}

/** A session cookie of the owner, as a `Cookie` header's value. */
export async function sessionCookie(server: Server): Promise<string> {
  const response = await signIn(server);
  expect(response.status).toBe(200);
  return response.headers.getSetCookie()[0]?.split(";")[0] ?? "";
}

export type Answer = { status: number; headers: Headers; text: string };

/** A request in the hands of the test: its body goes out as the test says, and its answer may come before that. */
export function openRequest(
  server: Server,
  path: string,
  options: { method?: string; headers?: Record<string, string> } = {},
) {
  const request = httpRequest(server.url + path, {
    method: options.method ?? "POST",
    headers: { "Content-Type": "application/json", ...options.headers },
    agent: false,
  });
  request.on("error", () => {}); // a server that has answered may hang up on the rest of the body
  const answer = new Promise<Answer>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("no answer within 30 s")), 30_000);
    const read = async (response: IncomingMessage): Promise<Answer> => {
      let text = "";
      for await (const chunk of response.setEncoding("utf8")) text += chunk;
      return { status: response.statusCode ?? 0, headers: makeHeaders(response.headers), text };
    };
    let hasAnswered = false;
    request.on("response", (response) => {
      clearTimeout(timer);
      hasAnswered = true;
      read(response).then(resolve, reject);
    });
    request.on("close", () => {
      clearTimeout(timer);
      if (!hasAnswered) reject(new Error("closed without an answer")); // it may close before the answer is read
    });
  });
  answer.catch(() => {}); // some tests only want to know what is stored afterwards
  return { request, answer };
}

function makeHeaders(incoming: IncomingHttpHeaders): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming)) {
    for (const one of [value ?? []].flat()) headers.append(name, one);
  }
  return headers;
}

/** An answer as `expectProblem` takes it. */
export const asResponse = ({ status, headers, text }: Answer) => new Response(text, { status, headers });

/** A bare connection, for requests that no HTTP client would send. `ended` has everything received. */
export async function openSocket(server: Server): Promise<{ socket: Socket; ended: Promise<string> }> {
  const { port } = new URL(server.url);
  const socket = connect({ port: Number(port), host: "127.0.0.1", allowHalfOpen: true });
  await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  const ended = new Promise<string>((resolve) => {
    let text = "";
    socket.setEncoding("utf8").on("data", (chunk) => (text += chunk));
    socket.on("error", () => {});
    socket.on("end", () => socket.destroy());
    socket.on("close", () => resolve(text));
  });
  return { socket, ended };
}

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** The last six letters of a token: the CRC-32 of the thirty before them in base 62. */
export function tokenChecksum(random: string): string {
  let rest = crc32(random);
  let text = "";
  for (let place = 0; place < 6; place++) {
    text = `${base62[rest % 62]}${text}`;
    rest = Math.floor(rest / 62);
  }
  return text;
}

/** A token of the right form that no server gave out. */
export const unknownToken = () => {
  const random = "Unknown00000000000000000000000";
  return `spoor_${random}${tokenChecksum(random)}`;
};

/** Sends a few at once until there have been too many. */
export async function exhaust(sending: () => Promise<Response>, max = 100, atOnce = 5): Promise<Response> {
  for (let sent = 0; sent < max; sent += atOnce) {
    const refused = (await Promise.all(Array.from({ length: atOnce }, sending))).find(({ status }) => status === 429);
    if (refused) return refused;
  }
  throw new Error(`${max} calls were not too many`);
}

/** As `exhaust`, of a limit of hundreds, most of which a quick run counts without sending it. @param key as `countCalls` has it */
export async function exhaustMany(key: string, limit: number, sending: () => Promise<Response>): Promise<Response> {
  await sending();
  if (!isLong) await countCalls(key, limit - 20);
  return exhaust(sending, limit + 50);
}

/** Counts calls without sending them. @param key of the row of the limit, under which at least one was counted before */
export async function countCalls(key: string, calls: number): Promise<void> {
  const { rowCount } = await pool().query("update rate_limit set points = points + $2 where key = $1", [key, calls]);
  expect(rowCount).toBe(1);
}
