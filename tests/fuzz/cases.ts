import { changedBody, makeTrace, soundBody } from "./batches.ts";
import { mutateBytes, pack } from "./bytes.ts";
import { otherCases } from "./other-cases.ts";
import { Random } from "./random.ts";
import { rawCases } from "./raw-cases.ts";
import {
  type Answer,
  type Call,
  type Case,
  getUser,
  ingestHeaders,
  type Maker,
  type Making,
  makeMarker,
  type World,
} from "./requests.ts";

const path = "/api/ingest";

function ingest({ world, index }: Making, body: Buffer, headers: Record<string, string> = {}): Call {
  return { method: "POST", path, headers: { ...ingestHeaders(world, index), ...headers }, body };
}

const one = (call: Call, batch?: Buffer): Omit<Case, "kind"> => ({ calls: [call], batches: [batch] });

const allAre = (status: number) => (answers: Answer[]) =>
  answers.every((answer) => answer.status === status)
    ? undefined
    : `answered ${answers.map((answer) => answer.status)}, not ${status}`;

const jobId = ({ text }: Answer) => (JSON.parse(text) as { jobId: string }).jobId;

function packed(making: Making): Omit<Case, "kind"> {
  const body = soundBody(making.random, making.marker);
  const { encoding, body: wire, sound } = pack(body, making.random);
  const headers: Record<string, string> = encoding === undefined ? {} : { "Content-Encoding": encoding };
  return { ...one(ingest(making, wire, headers), sound ? body : undefined), ...(sound && { check: allAre(202) }) };
}

const types = [
  "application/json; charset=utf-8",
  "application/json;charset=latin1",
  "APPLICATION/JSON",
  " application/json ",
  "application/json, text/plain",
  "text/plain",
  "application/jsonp",
  "multipart/form-data; boundary=x",
  "application/x-www-form-urlencoded",
  ";",
  "",
  "\u00ff/\u00ff",
];
const names = [
  "X-Spoor-Client-Address",
  "X-Request-Id",
  "X-HTTP-Method-Override",
  "X-Middleware-Subrequest",
  "X-Middleware-Invoke",
  "X-Invoke-Path",
  "X-Matched-Path",
  "X-Nextjs-Data",
  "X-Now-Route-Matches",
  "Next-Action",
  "Next-Router-State-Tree",
  "Next-Router-Prefetch",
  "RSC",
  "Origin",
  "Range",
  "If-None-Match",
  "Cookie",
  "Host",
  "Expect",
  "TE",
  "X-Forwarded-For",
  "X-Forwarded-Host",
  "X-Forwarded-Proto",
  "X-Forwarded-Port",
  "Forwarded",
  "Sec-Fetch-Site",
  "User-Agent",
  "Upgrade",
];
const values = [
  "",
  "1",
  "null",
  "%",
  "%E0%A4%A",
  "[",
  "[]",
  "{}",
  '["",{}]',
  "a b",
  "::",
  "://",
  "http://[",
  "http:// /",
  "*",
  "..",
  "/../../etc/passwd",
  "\u00ff\u00fe",
  "fe80::1%eth0",
  `::%${"a".repeat(300)}:b:c:d:e:f:g:h`,
  "::ffff:10.1.2.3",
  "10.0.0.1:80, 127.0.0.1",
  ", , ,",
  "999.1.1.1",
  "authlib.session_token=%; authlib.session_token=%00",
  "authlib.session_token=a.b; a=b=c;;=;",
  "100-continue",
  "x".repeat(300),
  "a,".repeat(900),
  "h2c",
  "bytes=0-0",
];

/** A valid batch with unusual, repeated or long headers. */
function oddHeaders(making: Making): Omit<Case, "kind"> {
  const { random, marker } = making;
  const headers: Record<string, string> = {};
  for (let n = random.below(3); n >= 0; n -= 1) headers[random.pick(names)] = random.pick(values);
  if (random.oneIn(4)) headers["Content-Type"] = random.pick(types);
  if (random.oneIn(10)) headers[`X-${"a".repeat(random.below(2000))}`] = "b".repeat(random.below(12_000));
  const body = soundBody(random, marker);
  return one(ingest(making, body, headers), body);
}

function oddAuthorization(making: Making): Omit<Case, "kind"> {
  const { random, marker, world, index } = making;
  const { token } = getUser(world, index);
  const flipped = mutateBytes(Buffer.from(token), random)
    .toString("latin1")
    .replace(/[^\x20-\x7e]/g, "?");
  const value = random.pick([
    `bearer ${token}`,
    `BEARER    ${token}`,
    `Bearer ${token} `,
    `Bearer\t${token}`,
    `Bearer ${flipped}`,
    `Bearer ${token}, Bearer ${token}`,
    `Bearer`,
    `Basic ${Buffer.from(`a:${token}`).toString("base64")}`,
    `Token ${token}`,
    token,
    "",
    `Bearer ${"A".repeat(4000)}`,
    `Bearer spoor_${"\u00e9".repeat(36)}`,
    `Bearer ${token}\u00a0`,
  ]);
  const body = soundBody(random, marker);
  return one(ingest(making, body, { Authorization: value }), body);
}

/** Two to four requests with one key: the same bytes are one job, however they are encoded; others are refused. */
function idempotency(making: Making): Omit<Case, "kind"> {
  const { random, marker } = making;
  const headers = { "Idempotency-Key": `${marker}${random.pick(["a", "  ", '"q"', "~".repeat(100)])}` };
  const body = soundBody(random, marker);
  const other = random.oneIn(2) ? Buffer.from(`${body} `) : changedBody(random, marker);
  const again = pack(body, random);
  const sound = again.sound && again.encoding !== undefined;
  const repeated = ingest(making, again.body, { ...headers, "Content-Encoding": again.encoding ?? "" });
  const calls = [ingest(making, body, headers), ...(sound ? [repeated] : []), ingest(making, other, headers)];
  return {
    calls,
    batches: [body],
    check(answers) {
      const [first, ...rest] = answers as [Answer, ...Answer[]];
      const last = rest.at(-1) as Answer;
      if (first.status !== 202) return `the first answered ${first.status}`;
      if (!other.equals(body) && ![400, 422].includes(last.status)) return `other bytes answered ${last.status}`;
      if (sound && rest[0]?.status !== 202) return `the same bytes answered ${rest[0]?.status}`;
      return sound && jobId(rest[0] as Answer) !== jobId(first) ? "the same bytes made another job" : undefined;
    },
  };
}

function oddKey(making: Making): Omit<Case, "kind"> {
  const { random, marker } = making;
  const key = random.pick(["", " ", "\u00e9", "x".repeat(255), "x".repeat(256), "\t", "a\tb", "x".repeat(9000), "%00"]);
  const body = soundBody(random, marker);
  return one(ingest(making, body, { "Idempotency-Key": `${random.oneIn(2) ? marker : ""}${key}` }), undefined);
}

/** One trace several times: longer, shorter, changed, replaced. */
function resync(making: Making): Omit<Case, "kind"> {
  const { random, marker } = making;
  const trace = { ...makeTrace(random, marker, "r", 5), source: "resync" };
  const bodies = Array.from({ length: 2 + random.below(2) }, () => {
    const messages = trace.messages.slice(0, random.below(6));
    if (random.oneIn(4) && messages[0]) messages[0] = { ...messages[0], content: `${marker}${random.below(9)}` };
    const title = random.oneIn(4) ? { title: `${random.below(3)}` } : {};
    return Buffer.from(JSON.stringify({ traces: [{ ...trace, ...title, messages, replace: random.oneIn(3) }] }));
  });
  return { calls: bodies.map((body) => ingest(making, body)), batches: bodies, check: allAre(202) };
}

/** One trace in parts, with repeated and wrong ones between them, and whole at the end: whatever ran first, it is complete then. */
function appended(making: Making): Omit<Case, "kind"> {
  const { random, marker } = making;
  const { messages, ...trace } = { ...makeTrace(random, marker, "a", 9), source: "append" };
  const parts = Array.from({ length: 2 + random.below(4) }, () => {
    const count = random.below(10);
    const wrong = random.oneIn(5) ? random.below(12) : count;
    return { ...trace, append: { count: wrong }, messages: messages.slice(count, count + random.below(5)) };
  });
  const begun = { ...trace, messages: messages.slice(0, random.below(5)) };
  const bodies = [begun, ...parts, { ...trace, messages }].map((one) => Buffer.from(JSON.stringify({ traces: [one] })));
  return { calls: bodies.map((body) => ingest(making, body)), batches: bodies, check: allAre(202) };
}

function chunked(making: Making): Omit<Case, "kind"> {
  const { random, marker } = making;
  const body = soundBody(random, marker);
  const cuts = Array.from({ length: random.below(12) }, () => random.below(body.length)).sort((a, b) => a - b);
  const call = ingest(making, body);
  return { calls: [{ ...call, cuts } as Call], batches: [body], check: allAre(202) };
}

const makers: Record<string, { weight: number; make: Maker }> = {
  sound: {
    weight: 3,
    make: (making) => {
      const body = soundBody(making.random, making.marker);
      return { ...one(ingest(making, body), body), check: allAre(202) };
    },
  },
  structure: {
    weight: 28,
    make: (making) => {
      const body = changedBody(making.random, making.marker);
      return one(ingest(making, body), body);
    },
  },
  bytes: {
    weight: 28,
    make: (making) => {
      let body = soundBody(making.random, making.marker);
      for (let changes = making.random.below(3); changes >= 0; changes -= 1) body = mutateBytes(body, making.random);
      return one(ingest(making, body), body);
    },
  },
  encodings: { weight: 14, make: packed },
  chunks: { weight: 1, make: chunked },
  headers: { weight: 4, make: oddHeaders },
  authorization: { weight: 3, make: oddAuthorization },
  "one key": { weight: 1, make: idempotency },
  "odd key": { weight: 1, make: oddKey },
  resync: { weight: 1, make: resync },
  append: { weight: 1, make: appended },
  ...otherCases,
  ...rawCases,
};

const drawer = Object.entries(makers).flatMap(([kind, { weight }]) => Array<string>(weight).fill(kind));

/** The case with a number: the same in every run with this seed, except for ids that the server assigned. */
export function makeCase(seed: number, index: number, world: World): Case {
  const random = new Random(seed, index);
  const kind = random.pick(drawer);
  const making = { random, marker: makeMarker(seed, index), index, world };
  return { kind, ...(makers[kind] as { make: Maker }).make(making) };
}
