import { changedBody } from "./batches.ts";
import { mutateBytes } from "./bytes.ts";
import type { Random } from "./random.ts";
import { type Call, getUser, type Maker, type Making, makeAddress } from "./requests.ts";

/** Routes other than `POST /api/ingest`. */

const single = (call: Call) => ({ calls: [call], batches: [] });

const address = ({ index }: Making) => ({ "X-Forwarded-For": makeAddress(index) });
const authorized = (making: Making) => ({
  ...address(making),
  Authorization: `Bearer ${getUser(making.world, making.index).token}`,
});

function json(making: Making, path: string, body: Buffer, headers: Record<string, string> = {}) {
  const typed = { "Content-Type": "application/json", ...address(making), ...headers };
  return single({ method: "POST", path, headers: typed, body });
}

const report = (random: Random, marker: string) => ({
  schema: random.pick([1, 2, 1.5, 1e300, 5e-324, -0]),
  deviceId: marker,
  cliVersion: "1.2.3",
  platform: "linux",
  arch: "x64",
  command: "sync",
  sentAt: "2026-11-20T08:00:00Z",
  diagnostics: Array.from({ length: random.below(4) }, () => ({
    adapter: random.pick(["claude-code", "codex", "\u0000"]),
    source: marker,
    totalEntries: random.pick([0, 3, Number.MAX_SAFE_INTEGER]),
    skippedEntries: random.below(9),
    unhandledTypes: ["a", "\ud800", marker].slice(random.below(3)),
    emptyParse: random.oneIn(2),
  })),
  events: Array.from({ length: random.below(3) }, () => ({ name: "e", properties: { a: [1e308, marker], b: null } })),
});

const telemetry: Maker = (making) => {
  const { random, marker } = making;
  let body = changedBody(random, marker, report(random, marker));
  if (random.oneIn(3)) body = mutateBytes(body, random);
  const who: Record<string, string> = random.oneIn(3)
    ? authorized(making)
    : random.oneIn(4)
      ? { Authorization: "Bearer x" }
      : {};
  return json(making, "/api/cli/telemetry", body, who);
};

const start: Maker = (making) => {
  const { random, marker } = making;
  let body = changedBody(random, marker, { machine: marker, scopes: ["read", "ingest"] });
  if (random.oneIn(3)) body = mutateBytes(body, random);
  return json(making, "/api/cli/device/start", body, { "User-Agent": `\u00ff${marker}` });
};

const oddMoments = [
  "2026-11-20T08:00:00Z",
  "2026-11-20T08:00:00%2B23:59",
  "2026-11-20T08:00:00-23:00",
  "0001-01-01T00:00:00Z",
  "0000-01-01T00:00:00Z",
  "9999-12-31T23:59:59.999Z",
  `2026-11-20T08:00:00.${"1".repeat(300)}Z`,
  "2026-11-20T08:00Z",
  "2026-02-30T00:00:00Z",
];
const odd = [
  "",
  "%",
  "%00",
  "%ff",
  "%ED%A0%80",
  "%F0%9F%98%80",
  "0",
  "-1",
  "1e3",
  "2147483647",
  "2147483648",
  "9999999999",
  "99999999999999999999",
  "null",
  "undefined",
  "[]",
  "%5B%5D",
  "a".repeat(129),
  "a".repeat(600),
  "..%2f..%2fetc",
  "'%20or%201=1--",
  "%22",
  "__proto__",
  ...oddMoments,
  "00000000-0000-0000-0000-000000000000",
  "ffffffff-ffff-ffff-ffff-ffffffffffff",
];

const cursor = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

function oddCursor(random: Random, traceId: string): string {
  const good = cursor(["2026-11-20T08:00:00.000Z", traceId]);
  return random.pick([
    good,
    mutateBytes(Buffer.from(good), random).toString("latin1"),
    cursor([decodeURIComponent(random.pick(oddMoments)), traceId]),
    cursor(["2026-11-20T08:00:00+16:00", traceId]),
    cursor([`2026-11-20T08:00:00.${"9".repeat(100)}Z`, traceId]),
    cursor(["2026-11-20T08:00:00Z", traceId.toUpperCase()]),
    cursor([null, null]),
    cursor({}),
    cursor([]),
    "e30",
    "=",
  ]);
}

/** A query string with some of a path's parameters, and others. */
function query({ random, world, marker }: Making, names: string[]): string {
  const pairs = Array.from({ length: random.below(5) }, () => {
    const name = random.oneIn(8) ? random.pick(["__proto__", "", "%", marker, "nxtPid", "_rsc"]) : random.pick(names);
    const value =
      name === "cursor" ? encodeURIComponent(oddCursor(random, random.pick(world.traceIds))) : random.pick(odd);
    return random.oneIn(20) ? name : `${name}=${value}`;
  });
  return pairs.length > 0 ? `?${pairs.join(random.oneIn(20) ? ";" : "&")}` : "";
}

const filters = ["source", "model", "project", "from", "to", "q"];

const reading: Maker = (making) => {
  const { random, world } = making;
  const id = random.oneIn(3) ? random.pick(odd) : random.pick(world.traceIds);
  const path = random.pick([
    () => `/api/traces${query(making, ["cursor", "limit", "limit", ...filters])}`,
    () => `/api/traces/${id}${query(making, ["a"])}`,
    () => `/api/traces/${id}/messages${query(making, ["after", "limit"])}`,
    () => `/api/traces/export${query(making, filters)}`,
    () => `/api/ingest/${random.oneIn(2) ? random.pick(world.jobIds) : id}${query(making, ["x"])}`,
    () => `/api/cli/session${query(making, ["x"])}`,
    () => `/api/limits${query(making, ["x"])}`,
    () => `/api/ready${query(making, ["x"])}`,
  ])();
  // The first user owns what is read; the others find nothing.
  const token = random.oneIn(3) ? getUser(world, making.index).token : world.users[0]?.token;
  const auth: Record<string, string> = random.oneIn(10)
    ? { Cookie: "authlib.session_token=%E0%A4%A" }
    : { Authorization: `Bearer ${token}` };
  const method = random.oneIn(12) ? "HEAD" : "GET";
  return single({ method, path, headers: { ...address(making), ...auth } });
};

const poll: Maker = (making) => {
  const { random, world, marker } = making;
  const code = random.oneIn(4) ? random.pick(world.deviceCodes) : random.pick([...odd, encodeURIComponent(marker)]);
  const path = `/api/cli/device/poll?deviceCode=${code}${random.oneIn(8) ? `&deviceCode=${code}` : ""}`;
  return single({ method: random.oneIn(10) ? "HEAD" : "GET", path, headers: address(making) });
};

const paths = ["/api/ingest", "/api/traces", "/api/traces/export", "/api/cli/device/start", "/api/cli/device/poll"];
const more = ["/api/cli/telemetry", "/api/health", "/api/limits", "/api/nothing", "/api", "/api/auth/x", "/"];
const tails = [
  "",
  "",
  "",
  "/",
  "//",
  "/%2e%2e",
  "/%00",
  "/%ff",
  "/..;/",
  "/%C3%A9",
  "/a/b/c/d",
  ".json",
  ".rsc",
  "%20",
  "?%",
];
const verbs = ["PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND", "TRACE", "MKCOL", "REPORT", "SEARCH", "QUERY", "POST"];

const method: Maker = (making) => {
  const { random, marker } = making;
  const path = random.pick([...paths, ...more]) + random.pick(tails);
  const body = random.oneIn(2) ? Buffer.from(JSON.stringify({ marker })) : undefined;
  const headers = { ...authorized(making), ...(body && { "Content-Type": "application/json" }) };
  return single({ method: random.pick(verbs), path, headers, ...(body && { body }) });
};

const authPaths = [
  "sign-in/email",
  "sign-up/email",
  "get-session",
  "sign-out",
  "sign-in/social",
  "update-user",
  "error",
];
const twoFactorPaths = ["two-factor/verify-totp", "callback/github", "reset-password", "verify-email", "ok", "x"];

const auth: Maker = (making) => {
  const { random, marker } = making;
  const account = { email: `${marker}@example.org`, password: marker, name: marker, provider: "github", code: "1" };
  const body = changedBody(random, marker, account);
  const path = `/api/auth/${random.pick([...authPaths, ...twoFactorPaths])}${query(making, ["token", "code", "error"])}`;
  const headers: Record<string, string> = { "Content-Type": "application/json", ...address(making) };
  if (random.oneIn(2)) headers.Origin = "http://127.0.0.1";
  if (random.oneIn(4)) headers.Cookie = random.pick(["authlib.session_token=%", "authlib.session_token=a.b", "=;=;"]);
  return single(
    random.oneIn(3) ? { method: "GET", path, headers: address(making) } : { method: "POST", path, headers, body },
  );
};

export const otherCases: Record<string, { weight: number; make: Maker }> = {
  telemetry: { weight: 5, make: telemetry },
  "device start": { weight: 3, make: start },
  "device poll": { weight: 3, make: poll },
  reading: { weight: 6, make: reading },
  methods: { weight: 3, make: method },
  auth: { weight: 2, make: auth },
};
