import { soundBody } from "./batches.ts";
import { mutateBytes } from "./bytes.ts";
import { ingestHeaders, type Maker, type Making } from "./requests.ts";

/** Malformed requests that no HTTP client sends. */

const path = "/api/ingest";
const latin1 = (text: string) => Buffer.from(text, "latin1");

/** A request in parts: a case replaces some, the rest is valid. */
function request(
  making: Making,
  parts: { line?: string; framing?: string; more?: string; body?: Buffer } = {},
): Buffer {
  const body = parts.body ?? soundBody(making.random, making.marker);
  const headers = Object.entries(ingestHeaders(making.world, making.index)).map(([name, value]) => `${name}: ${value}`);
  const lines = [
    parts.line ?? `POST ${path} HTTP/1.1`,
    ...(parts.more?.includes("Host:") ? [] : ["Host: localhost"]),
    ...headers,
    "Connection: close",
    parts.framing ?? `Content-Length: ${body.length}`,
    ...(parts.more === undefined ? [] : [parts.more]),
  ];
  return Buffer.concat([latin1(`${lines.join("\r\n")}\r\n\r\n`), body]);
}

const call = (bytes: Buffer, batch?: Buffer) => ({ calls: [{ raw: bytes, path }], batches: [batch] });

const lengths: Maker = (making) => {
  const { random } = making;
  const body = soundBody(random, making.marker);
  const { length } = body;
  const framing = random.pick([
    `Content-Length: ${length - 1 - random.below(length - 1)}`,
    `Content-Length: ${length + 1 + random.below(100)}`,
    `Content-Length: -${length}`,
    `Content-Length: +${length}`,
    `Content-Length: ${length}, ${length}`,
    `Content-Length: ${length}\r\nContent-Length: ${length + 1}`,
    `Content-Length: 0x${length.toString(16)}`,
    `Content-Length: ${length}.0`,
    "Content-Length: 99999999999999999999",
    "Content-Length: 67108865",
    "Content-Length:",
    "X-None: 1",
  ]);
  return call(request(making, { framing, body }));
};

const encodings = [
  "chunked",
  "gzip, chunked",
  "chunked, gzip",
  "identity",
  "xchunked",
  "chunked, chunked",
  " ",
  "\x0bchunked",
];

/** Valid and invalid chunks. */
const chunks: Maker = (making) => {
  const { random } = making;
  const body = soundBody(random, making.marker);
  const sound = random.oneIn(3);
  const parts: Buffer[] = [];
  for (let at = 0; at < body.length; ) {
    const part = body.subarray(at, at + 1 + random.below(body.length));
    at += part.length;
    const size = part.length.toString(16);
    const wrong = random.pick([size, `-${size}`, `0x${size}`, `${size}0`, `${size} `, "ffffffffffffffffff", "", "g"]);
    const written = random.pick([size, size.toUpperCase(), `000${size}`, `${size};a=b`, sound ? size : wrong]);
    parts.push(latin1(`${written}${sound || random.oneIn(2) ? "\r\n" : "\n"}`), part, latin1("\r\n"));
  }
  const end = sound
    ? "0\r\n\r\n"
    : random.pick(["0\r\n\r\n", "0\r\nX-T: 1\r\n\r\n", "0\r\n", "", "0", "0\r\nHost x\r\n\r\n"]);
  const encoding = sound ? "chunked" : random.pick([...encodings, "chunked", "chunked", "chunked"]);
  const both = !sound && random.oneIn(5) ? `\r\nContent-Length: ${body.length}` : "";
  const bytes = Buffer.concat([...parts, latin1(end)]);
  return call(
    request(making, { framing: `Transfer-Encoding: ${encoding}${both}`, body: bytes }),
    sound ? body : undefined,
  );
};

const lines = [
  "POST /api/ingest HTTP/1.0",
  "POST /api/ingest HTTP/0.9",
  "POST /api/ingest HTTP/2.0",
  "POST /api/ingest HTTP/1.1 ",
  "POST /api/ingest",
  "POST  /api/ingest HTTP/1.1",
  "POST\t/api/ingest\tHTTP/1.1",
  " POST /api/ingest HTTP/1.1",
  "post /api/ingest HTTP/1.1",
  "PRI * HTTP/2.0",
  "OPTIONS * HTTP/1.1",
  "CONNECT localhost:443 HTTP/1.1",
  "GET http://evil.example/api/traces HTTP/1.1",
  "GET http://[/api/traces HTTP/1.1",
  "GET //api/traces HTTP/1.1",
  "GET /\\api\\traces HTTP/1.1",
  "GET /api/../api/traces HTTP/1.1",
  "GET /api/traces#x HTTP/1.1",
  "GET /api/traces?a=\xff HTTP/1.1",
  "GET /api/\x00 HTTP/1.1",
  "GET api/traces HTTP/1.1",
  "GET ? HTTP/1.1",
  "GET /%c0%ae%c0%ae/ HTTP/1.1",
  "GET /_next/static/%00 HTTP/1.1",
  "GET /_next/image?url=%2F&w=1&q=1 HTTP/1.1",
  "GET /_next/data/x/traces.json HTTP/1.1",
  "GET /traces/%ff HTTP/1.1",
  "GET /traces/[id] HTTP/1.1",
  "GET /device?code=%00%ff HTTP/1.1",
  `GET /api/traces?q=${"a".repeat(9000)} HTTP/1.1`,
  `GET /${"a/".repeat(9000)} HTTP/1.1`,
  "TRACE /api/ingest HTTP/1.1",
  "FOO /api/ingest HTTP/1.1",
];
const headers = [
  "Host: a b",
  "Host: [",
  "Host: [::1",
  "Host: \xe9.example",
  "Host: a/b?c#d",
  "Host: %",
  "Host: ",
  "Host: a\r\nHost: b",
  "Host: localhost:99999999",
  "Host: @",
  "X-Forwarded-Host: a b, [",
  "X-Forwarded-Proto: ://",
  "X-Forwarded-For: \xff\xfe",
  `X-Forwarded-For: fe80::1%${"z".repeat(400)}`,
  `X-Forwarded-For: ::%${":a".repeat(200)}`,
  "Expect: 100-continue",
  "Expect: 200-maybe",
  "Upgrade: websocket\r\nSec-WebSocket-Key: x",
  "Connection: upgrade, http2-settings\r\nUpgrade: h2c",
  ": no name",
  "No colon",
  "Space : x",
  "X-Folded: a\r\n b",
  "X-Bytes: \x01\x02\x7f",
  "X-Zero: \x00",
  "X-High: \x80\xff",
  "Idempotency-Key: \xe9",
  "Idempotency-Key: a\r\nIdempotency-Key: b",
  "Authorization: Bearer x",
  "Content-Type: text/plain",
  "Content-Encoding: gzip\r\nContent-Encoding: br",
  "Cookie: authlib.session_token=\xff; %=%",
  "Next-Router-State-Tree: %",
  "RSC: 1\r\nNext-Router-State-Tree: [[[",
  "Next-Action: 00",
  "X-Middleware-Subrequest: middleware:middleware:middleware:middleware:middleware",
  `X-Long: ${"a".repeat(20_000)}`,
  Array.from({ length: 2500 }, (_, n) => `a${n}: 1`).join("\r\n"),
];

const requestLine: Maker = (making) => {
  const line = making.random.pick(lines);
  return line.startsWith("POST")
    ? call(request(making, { line }))
    : call(request(making, { line, body: Buffer.alloc(0) }));
};

const header: Maker = (making) => {
  const more = making.random.pick(headers);
  const line = making.random.oneIn(2) ? "GET /traces HTTP/1.1" : undefined;
  return call(request(making, line ? { line, more, body: Buffer.alloc(0) } : { more }));
};

/** A valid request with some bytes changed, mostly in its head. */
const changed: Maker = (making) => {
  const { random } = making;
  const whole = request(making);
  const headBytes = whole.indexOf("\r\n\r\n") + 4;
  const head = mutateBytes(whole.subarray(0, headBytes), random);
  return call(Buffer.concat([head, whole.subarray(headBytes)]));
};

/** Several pipelined requests on one connection, one of them perhaps malformed. */
const pipeline: Maker = (making) => {
  const { random } = making;
  const get = latin1("GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const parts = Array.from({ length: 1 + random.below(6) }, () => (random.oneIn(6) ? mutateBytes(get, random) : get));
  return call(Buffer.concat([...parts, request(making)]));
};

export const rawCases: Record<string, { weight: number; make: Maker }> = {
  "raw lengths": { weight: 1, make: lengths },
  "raw chunks": { weight: 2, make: chunks },
  "raw request lines": { weight: 1, make: requestLine },
  "raw headers": { weight: 2, make: header },
  "raw bytes": { weight: 2, make: changed },
  "raw pipelines": { weight: 1, make: pipeline },
};
