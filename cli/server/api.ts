import { setTimeout as sleep } from "node:timers/promises";
import { CommandError } from "../errors.ts";
import { type Fields, isFields, parseJson } from "../files/json-lines.ts";
import { version } from "../version.ts";

/** A server's refusal, as its `application/problem+json` tells it. */
export class HttpError extends Error {
  override name = "Refusal";
  readonly status: number;
  /** The interface's code, such as `invalid_request`. */
  readonly code: string;
  readonly errors: { path: string; message: string }[];
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(status: number, problem: Fields, headers: Headers) {
    const target = status >= 300 && status < 400 ? `; it sends to ${originIn(headers)}, which --server can name` : "";
    super(typeof problem.detail === "string" ? problem.detail : `The server answered ${status}${target}.`);
    this.status = status;
    this.code = typeof problem.error === "string" ? problem.error : "";
    const errors = Array.isArray(problem.errors) ? problem.errors.filter(isFields) : [];
    this.errors = errors.map(({ path, message }) => ({ path: String(path), message: String(message) }));
    this.requestId = headers.get("x-request-id") ?? undefined;
    this.retryAfterSeconds = secondsOf(headers.get("retry-after"));
  }
}

/** The server to which a redirection leads. */
function originIn(headers: Headers): string {
  const location = headers.get("location") ?? "";
  return URL.canParse(location) ? new URL(location).origin : location;
}

/** `Retry-After` has seconds or a date (RFC 9110, section 10.2.3). The date is the server's, and so is the clock to compare with. */
function secondsOf(header: string | null): number | undefined {
  if (header === null) return undefined;
  if (/^\d+$/.test(header)) return Number(header);
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, (at - Date.now()) / 1000);
}

export type Wait = { seconds: number; reason: string };

export type ApiOptions = {
  token?: string | undefined;
  /** How long a request is tried again for, in seconds, until it is given up on. */
  patienceSeconds: number;
  /** Is told before each wait. */
  onWait?: (wait: Wait) => void;
  signal?: AbortSignal | undefined;
};

export type Request = {
  method?: "GET" | "POST" | "DELETE";
  json?: unknown;
  /** Bytes that are JSON, in this encoding. */
  body?: { bytes: Uint8Array<ArrayBuffer>; encoding: string };
  headers?: Record<string, string>;
  /** Whether to try again what may pass; false for what has its own way to. */
  retries?: boolean;
  timeoutSeconds?: number;
};

export type Answer = { status: number; body: Fields; headers: Headers };

/** What a server says to a path that it does not know, or a method. */
const foreign = new Set([404, 405, 501]);
const passing = new Set([408, 429, 500, 502, 503, 504]);
/** A fault of the server's own may be one of the request's: it is not tried for as long. */
const maxInternalRetries = 3;
const longestWaitSeconds = 30;

/** The server's interface. Each request is tried again where that may help, as long as the patience lasts. */
export class Api {
  readonly url: string;
  readonly #options: ApiOptions;

  constructor(url: string, options: ApiOptions) {
    this.url = url;
    this.#options = options;
  }

  /**
   * Sends a request.
   *
   * @throws Refusal where the server says no; Failure `unreachable` where it could not be asked
   */
  async ask(path: string, request: Request = {}): Promise<Answer> {
    const deadline = performance.now() + this.#options.patienceSeconds * 1000;
    let internal = 0;
    for (let tries = 0; ; tries++) {
      try {
        return await this.#askOnce(path, request);
      } catch (error) {
        this.#options.signal?.throwIfAborted();
        if (error instanceof HttpError && error.status === 500) internal++;
        if (request.retries === false || !mayPass(error) || internal > maxInternalRetries) throw error;
        const seconds = waitSeconds(error, tries);
        if (performance.now() + seconds * 1000 > deadline) throw error;
        this.#options.onWait?.({ seconds, reason: (error as Error).message });
        await sleep(seconds * 1000, undefined, { signal: this.#options.signal });
      }
    }
  }

  async #askOnce(path: string, request: Request): Promise<Answer> {
    const { method = "GET", json, body, headers = {}, timeoutSeconds = 30 } = request;
    const { token, signal } = this.#options;
    const timeout = body ? undefined : AbortSignal.timeout(timeoutSeconds * 1000);
    const signals = [timeout, signal].filter((one) => one !== undefined);
    const init: RequestInit = {
      method,
      redirect: "manual",
      headers: {
        "User-Agent": `spoor/${version}`,
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
    const { response, text } = await this.#fetch(path, init);
    const value = parseJson(text);
    const fields = isFields(value) ? value : {};
    if (!isFields(value) && (foreign.has(response.status) || (response.ok && response.status !== 204))) {
      const answered = `${this.url} answers with ${response.status}, but not as a Spoor server does.`;
      throw new CommandError("failed", `${answered} Is it the right address?`);
    }
    if (!response.ok) throw new HttpError(response.status, fields, response.headers);
    return { status: response.status, body: fields, headers: response.headers };
  }

  async #fetch(path: string, init: RequestInit): Promise<{ response: Response; text: string }> {
    try {
      const response = await fetch(this.url + path, init);
      return { response, text: await response.text() };
    } catch (error) {
      this.#options.signal?.throwIfAborted();
      throw new CommandError("unreachable", `${this.url} can't be reached: ${reasonOf(error)}.`);
    }
  }
}

/** What is below fetch's "fetch failed". */
function reasonOf(error: unknown): string {
  const { cause, message, name } = error as Error & { cause?: { code?: string; message?: string } };
  if (name === "TimeoutError") return "it did not answer in time";
  const code = cause?.code;
  const words = code && reasons[code];
  return words ? `${words} (${code})` : (code ?? cause?.message ?? message);
}

const reasons: Record<string, string> = {
  ECONNREFUSED: "nothing answers there",
  ECONNRESET: "it broke the connection off",
  UND_ERR_SOCKET: "it broke the connection off",
  ENOTFOUND: "no such host is known",
  EAI_AGAIN: "no such host is known right now",
  ENETUNREACH: "there is no network",
  ETIMEDOUT: "it did not answer in time",
  UND_ERR_CONNECT_TIMEOUT: "it did not answer in time",
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is its own; NODE_EXTRA_CA_CERTS can name it",
};

const mayPass = (error: unknown): boolean =>
  error instanceof HttpError
    ? passing.has(error.status)
    : error instanceof CommandError && error.kind === "unreachable";

/** As long as the server says, and a little more; else longer each time, by chance, so that many clients don't come at once. */
function waitSeconds(error: unknown, tries: number): number {
  const told = error instanceof HttpError ? error.retryAfterSeconds : undefined;
  if (told !== undefined) return told + Math.random() * Math.min(1, told / 4 + 0.1);
  return Math.min(longestWaitSeconds, 0.5 * 2 ** tries) * (0.5 + Math.random() / 2);
}
