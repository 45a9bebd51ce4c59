import { Agent, request as httpRequest } from "node:http";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Answer, Call, HttpCall, RawCall } from "./requests.ts";

const agent = new Agent({ keepAlive: true, maxSockets: 64 });

/** The timeout of an HTTP response, in milliseconds: no case has to wait. */
const answerMs = 20_000;
/**
 * How long the sender of a broken request waits before it closes its half of the connection, and then all of it. Who sends several
 * waits longer: the server owes a client that closes its half no answer to what it is still at.
 */
const [quietMs, severalMs, closeMs] = [1000, 5000, 3000];

/** Sends a call. @returns its responses: one for an HTTP call, any number for a raw one */
export async function send(port: number, call: Call): Promise<Answer[]> {
  return "raw" in call ? sendRaw(port, call) : [await sendHttp(port, call)];
}

const noAnswer = (why: string): Answer => ({ status: 0, headers: {}, text: why });

function sendHttp(port: number, { method, path, headers, body, cuts }: HttpCall): Promise<Answer> {
  return new Promise((resolve) => {
    const length: Record<string, number> = body && !cuts ? { "Content-Length": body.length } : {};
    const options = { agent, host: "127.0.0.1", port, method, path, headers: { ...headers, ...length } };
    const request = httpRequest(options, async (response) => {
      let text = "";
      try {
        for await (const chunk of response.setEncoding("utf8")) text += chunk;
        const flat = Object.fromEntries(Object.entries(response.headers).map(([name, value]) => [name, `${value}`]));
        resolve({ status: response.statusCode ?? 0, headers: flat, text });
      } catch {
        resolve(noAnswer("an answer broke off"));
      }
    });
    request.setTimeout(answerMs, () => request.destroy(new Error(`no answer within ${answerMs} ms`)));
    request.on("error", (error) => resolve(noAnswer(error.message)));
    if (!body || !cuts) {
      request.end(body);
      return;
    }
    for (const [index, from] of [0, ...cuts].entries()) request.write(body.subarray(from, cuts[index] ?? body.length));
    request.end();
  });
}

async function sendRaw(port: number, { raw }: RawCall): Promise<Answer[]> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  const parts: Buffer[] = [];
  socket.on("data", (part) => parts.push(part));
  socket.on("error", () => {});
  socket.on("end", () => socket.end());
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  socket.write(raw);
  const timers = new AbortController();
  const wait = (ms: number) => sleep(ms, undefined, { signal: timers.signal }).catch(() => {});
  const isSeveral = raw.toString("latin1").split(" HTTP/1.1\r\n").length > 2;
  await Promise.race([closed, wait(isSeveral ? severalMs : quietMs)]);
  if (!socket.destroyed) {
    socket.end();
    await Promise.race([closed, wait(closeMs)]);
  }
  timers.abort();
  socket.destroy();
  return readAnswers(Buffer.concat(parts));
}

/** Parses the responses of a connection; a truncated last one counts as well. */
function readAnswers(bytes: Buffer): Answer[] {
  const answers: Answer[] = [];
  let rest = bytes;
  while (rest.length > 0) {
    const end = rest.indexOf("\r\n\r\n");
    const head = rest.toString("latin1", 0, end < 0 ? rest.length : end).split("\r\n");
    const [, status] = /^HTTP\/1\.[01] (\d{3})/.exec(head[0] ?? "") ?? [];
    if (status === undefined) return [...answers, { status: -1, headers: {}, text: "no HTTP" }];
    const headers = Object.fromEntries(
      head
        .slice(1)
        .map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
    );
    rest = end < 0 ? Buffer.alloc(0) : rest.subarray(end + 4);
    const isInterim = Number(status) < 200;
    const { text, bytes: used } = isInterim ? { text: "", bytes: 0 } : readBody(rest, Number(status), headers);
    rest = rest.subarray(used);
    if (!isInterim) answers.push({ status: Number(status), headers, text });
  }
  return answers;
}

function readBody(bytes: Buffer, status: number, headers: Record<string, string>): { text: string; bytes: number } {
  if (headers["transfer-encoding"] !== "chunked") {
    // Without a length the body ends at the end of the connection (RFC 9112, section 6.3).
    const untold = status === 204 || status === 304 ? 0 : bytes.length;
    const length = Math.min(bytes.length, Number(headers["content-length"] ?? untold));
    return { text: bytes.toString("utf8", 0, length), bytes: length };
  }
  let text = "";
  for (let at = 0; ; ) {
    const line = bytes.indexOf("\r\n", at);
    const size = line < 0 ? Number.NaN : Number.parseInt(bytes.toString("latin1", at, line), 16);
    if (!(size > 0)) return { text, bytes: Number.isNaN(size) ? bytes.length : line + 4 };
    text += bytes.toString("utf8", line + 2, line + 2 + size);
    at = line + 2 + size + 2;
  }
}

/** Closes the connections that were kept alive. */
export const closeClient = () => agent.destroy();
