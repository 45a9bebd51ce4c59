import { setTimeout } from "node:timers/promises";
import { CommandError } from "../errors.ts";
import { type Fields, isFields, parseJson, toText } from "../files/json.ts";
import { running } from "../program.ts";
import { isPlain } from "./origin.ts";

export class HttpError extends Error {
  override name = "HttpError";
  readonly status: number;
  readonly code: string;
  readonly problem: Fields;
  readonly errors: { path: string; message: string }[];
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(status: number, problem: Fields, headers: Headers) {
    const redirect = status >= 300 && status < 400 ? redirectIn(headers) : "";
    super(typeof problem.detail === "string" ? problem.detail : `The server answered ${status}${redirect}.`);
    this.status = status;
    this.problem = problem;
    this.code = typeof problem.error === "string" ? problem.error : "";
    const errors = Array.isArray(problem.errors) ? problem.errors.filter(isFields) : [];
    this.errors = errors
      .slice(0, maxErrors)
      .map(({ path, message }) => ({ path: toText(path), message: toText(message) }));
    this.requestId = headers.get("x-request-id") ?? undefined;
    this.retryAfterSeconds = readRetryAfter(headers.get("retry-after"));
  }
}

function redirectIn(headers: Headers): string {
  const location = headers.get("location") ?? "";
  const target = URL.canParse(location) ? new URL(location) : undefined;
  return target && isPlain(target) ? `: a redirect to ${target.origin}; try that with --server` : ": a redirect";
}

/** Parses `Retry-After`: seconds or a date (RFC 9110, section 10.2.3). */
function readRetryAfter(header: string | null): number | undefined {
  if (header === null) return undefined;
  if (/^\d+$/.test(header)) return Number(header);
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, (at - Date.now()) / 1000);
}

export type Wait = { seconds: number; reason: string };

export type ApiOptions = {
  token?: string | undefined;
  patienceSeconds: number;
  onWait?: (wait: Wait) => void;
  signal?: AbortSignal | undefined;
};

export type RequestOptions = {
  method?: "GET" | "POST" | "PUT" | "DELETE";
  json?: unknown;
  /** An encoded body: JSON, unless a header says otherwise. */
  body?: { bytes: Uint8Array<ArrayBuffer>; encoding: string };
  headers?: Record<string, string>;
  retries?: boolean;
  timeoutSeconds?: number;
  returnsErrors?: boolean;
};

export type ApiResponse = { status: number; body: Fields; headers: Headers };

/** Statuses for unknown paths and methods; without a JSON body, it was not Spoor that answered. */
const unknownRoute = new Set([404, 405, 501]);
/** Statuses with which proxies ask for a sign-in or forbid a request. */
const fromBetween = new Set([401, 403, 407, 451, 511]);
const retryable = new Set([408, 429, 500, 502, 503, 504]);
/** The request itself may cause a 500, so it is retried less often. */
const maxInternalRetries = 3;
const maxBackoffSeconds = 30;
/** A `Retry-After` of 0, or a date in the past by this machine's clock, is obeyed only this often. */
const maxImmediateRetries = 3;
const maxAnswerMiB = 8;
const maxErrors = 20;

export class Api {
  readonly url: string;
  readonly #options: ApiOptions;

  constructor(url: string, options: ApiOptions) {
    this.url = url;
    this.#options = options;
  }

  /** @throws HttpError for an error response; CommandError `unreachable` for none */
  async request(path: string, options: RequestOptions = {}): Promise<ApiResponse> {
    const deadline = clock.now() + this.#options.patienceSeconds * 1000;
    let internalErrors = 0;
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#send(path, options);
      } catch (error) {
        this.#options.signal?.throwIfAborted();
        if (error instanceof HttpError && error.status === 500) internalErrors++;
        if (options.retries === false || !isRetryable(error) || internalErrors > maxInternalRetries) throw error;
        const seconds = backoffSeconds(error, attempt);
        if (clock.now() + seconds * 1000 > deadline) throw error;
        this.#options.onWait?.({ seconds, reason: (error as Error).message });
        await clock.sleep(seconds * 1000, this.#options.signal);
      }
    }
  }

  async #send(path: string, options: RequestOptions): Promise<ApiResponse> {
    const { response, bytes } = await this.#fetch(path, this.#makeInit(options));
    if (bytes === undefined)
      throw new CommandError("failed", `${this.url} answered with more than ${maxAnswerMiB} MiB.`);
    if (response.status === 202 && bytes.length === 0) return { status: 202, body: {}, headers: response.headers };
    const value = parseJson(bytes.toString());
    const fields = isFields(value) ? value : {};
    if (!isFields(value) && (unknownRoute.has(response.status) || (response.ok && response.status !== 204))) {
      throw new CommandError(
        "failed",
        `${this.url} is not a Spoor server (it answered ${response.status}). Check the URL.`,
      );
    }
    if (!isFields(value) && fromBetween.has(response.status)) {
      const who = "A proxy or a sign-in page may have answered";
      throw new CommandError("failed", `${this.url} answered ${response.status}, but not as Spoor does. ${who}.`);
    }
    if (!response.ok && !options.returnsErrors) throw new HttpError(response.status, fields, response.headers);
    return { status: response.status, body: fields, headers: response.headers };
  }

  /**
   * @returns `unchanged` if it matches `If-None-Match`, `long` if it exceeds `maxBytes`
   */
  async download(
    path: string,
    headers: Record<string, string>,
    maxBytes: number,
  ): Promise<Buffer | "unchanged" | "long"> {
    const init = this.#makeInit({ headers: { Accept: "*/*", ...headers }, timeoutSeconds: 120 });
    const { response, bytes } = await this.#fetch(path, init, maxBytes);
    if (response.status === 304) return "unchanged";
    if (!response.ok) throw new HttpError(response.status, {}, response.headers);
    return bytes ?? "long";
  }

  #makeInit({ method = "GET", json, body, headers = {}, timeoutSeconds = 30 }: RequestOptions): RequestInit {
    const { token, signal } = this.#options;
    const timeout = body ? undefined : AbortSignal.timeout(timeoutSeconds * 1000);
    const signals = [timeout, signal].filter((one) => one !== undefined);
    return {
      method,
      redirect: "manual",
      headers: {
        "User-Agent": `spoor/${running.version}`,
        Accept: "application/json",
        ...(token && { Authorization: `Bearer ${token}` }),
        ...((json !== undefined || body) && { "Content-Type": "application/json" }),
        ...(body && body.encoding !== "identity" && { "Content-Encoding": body.encoding }),
        ...headers,
      },
      ...(json !== undefined && { body: JSON.stringify(json) }),
      ...(body && { body: body.bytes }),
      ...(signals.length > 0 && { signal: AbortSignal.any(signals) }),
    };
  }

  async #fetch(
    path: string,
    init: RequestInit,
    maxBytes = maxAnswerMiB * 1024 * 1024,
  ): Promise<{ response: Response; bytes: Buffer | undefined }> {
    try {
      const response = await fetch(this.url + path, init);
      return { response, bytes: await readBody(response, maxBytes) };
    } catch (error) {
      this.#options.signal?.throwIfAborted();
      throw new CommandError("unreachable", `${this.url} can't be reached: ${describeNetworkError(error)}.`);
    }
  }
}

async function readBody({ body }: Response, maxBytes: number): Promise<Buffer | undefined> {
  if (!body) return Buffer.alloc(0);
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body) {
    bytes += part.length;
    if (bytes > maxBytes) return undefined; // leaving the loop closes the connection
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** The message of fetch's "fetch failed" may contain the token. */
function describeNetworkError(error: unknown): string {
  const { cause, name } = error as Error & { cause?: { code?: string; message?: string } };
  if (name === "TimeoutError") return "no response in time";
  const code = cause?.code;
  const words = code && networkErrors[code];
  return words ? `${words} (${code})` : (code ?? cause?.message ?? "the request could not be sent");
}

const networkErrors: Record<string, string> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection closed",
  UND_ERR_SOCKET: "connection closed",
  ENOTFOUND: "unknown host",
  EAI_AGAIN: "the host name could not be resolved",
  ENETUNREACH: "no network",
  ETIMEDOUT: "no response in time",
  UND_ERR_CONNECT_TIMEOUT: "no response in time",
  DEPTH_ZERO_SELF_SIGNED_CERT: "self-signed certificate; trust it with NODE_EXTRA_CA_CERTS",
};

const isRetryable = (error: unknown): boolean =>
  error instanceof HttpError
    ? retryable.has(error.status)
    : error instanceof CommandError && error.kind === "unreachable";

/** Jitter keeps clients from retrying at the same moment. */
function backoffSeconds(error: unknown, attempt: number): number {
  const retryAfter = error instanceof HttpError ? error.retryAfterSeconds : undefined;
  const isBelieved = retryAfter !== undefined && (retryAfter >= 1 || attempt < maxImmediateRetries);
  if (isBelieved) return retryAfter + Math.random() * Math.min(1, retryAfter / 4 + 0.1);
  return Math.min(maxBackoffSeconds, 0.5 * 2 ** attempt) * (0.5 + Math.random() / 2);
}

export const clock = {
  now: (): number => performance.now(),
  sleep: async (milliseconds: number, signal?: AbortSignal): Promise<void> => {
    await setTimeout(milliseconds, undefined, { signal });
  },
};
