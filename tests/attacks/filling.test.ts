// What a stranger, or a member, can fill the disk with.
import { request } from "node:http";
import { expect, test, vi } from "vitest";
import { pool } from "#lib/db/client";
import { makeNoise } from "../support/random.ts";
import { jobEnd, owner, post, provideOwnedServer } from "../support/server.ts";

const quota = 3_000_000;
const { server, userId, token } = await provideOwnedServer({
  environment: { AUTH_RATE_LIMIT: "on", USER_QUOTA_BYTES: String(quota) },
});

const times = <T>(count: number, call: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, n) => call(n)));

async function databaseBytes(): Promise<number> {
  const { rows } = await pool().query("select pg_database_size(current_database())::float8 as bytes");
  return rows[0].bytes;
}

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;

/** A report of 200 diagnostics and 50 events from a new device, with about `bytes` bytes of text that can't be compressed. */
function report(device: number, bytes: number): object {
  const [ofTypes, ofEvents] = [Math.floor(bytes / 2 / 200), Math.floor(bytes / 2 / 50)];
  return {
    schema: 1,
    deviceId: `${makeNoise(8)}-${device}`,
    cliVersion: "1.0.0",
    platform: "linux",
    arch: "x64",
    command: "scan",
    diagnostics: Array.from({ length: 200 }, (_, n) => ({
      adapter: `adapter-${n}`,
      unhandledTypes: Array.from({ length: Math.floor(ofTypes / 128) }, () => makeNoise(120)),
    })),
    events: Array.from({ length: 50 }, () => ({ name: "event", properties: { text: makeNoise(ofEvents) } })),
  };
}

const send = (body: object, address: string) =>
  post(server, "/api/cli/telemetry", body, { "X-Forwarded-For": address });

test("anonymous telemetry bodies of 950 KB are refused, and store nothing", async ({ annotate }) => {
  const body = report(0, 820_000);
  const before = await databaseBytes();
  const answers = await times(40, (n) => send({ ...body, deviceId: `large-${n}` }, "203.0.113.1"));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([413]));
  const grown = (await databaseBytes()) - before;
  expect(grown).toBeLessThan(500_000);
  await annotate(`40 bodies of ${megabytes(JSON.stringify(body).length)}: the database grew by ${megabytes(grown)}`);
});

test("anonymous telemetry ends with 429 before the database grew by its network's budget", async ({ annotate }) => {
  const before = await databaseBytes();
  const answers = await times(40, (n) => send(report(n, 250_000), `198.51.100.${1 + (n % 2)}`));
  const small = await times(40, () => send(report(0, 0), "198.51.100.1"));
  const grown = (await databaseBytes()) - before;
  expect(new Set([...answers, ...small].map(({ status }) => status))).toEqual(new Set([200, 429]));
  expect(small.at(-1)?.status).toBe(429);
  expect(Number(small.at(-1)?.headers.get("retry-after"))).toBeGreaterThan(80_000);
  // Two networks.
  expect(grown).toBeLessThan(2 * 5_000_000);
  const taken = answers.filter(({ status }) => status === 200).length;
  await annotate(
    `${taken} of 40 bodies of 250 KB from two networks were taken: the database grew by ${megabytes(grown)}`,
  );
});

test("a member's uploads at once end with 413 at the quota, stored whole or not at all", async ({ annotate }) => {
  const upload = (n: number) =>
    post(
      server,
      "/api/ingest",
      { traces: [{ sourceId: `fill-${n}`, messages: [{ position: 0, content: makeNoise(150_000) }] }] },
      { Authorization: `Bearer ${token}` },
    );
  const answers = await times(40, upload);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202, 413]));
  const jobs: string[] = [];
  for (const answer of answers) {
    const body = (await answer.json()) as { jobId: string; detail: string };
    if (answer.status === 202) jobs.push(body.jobId);
    else expect(body.detail).toContain(String(quota));
  }
  for (const jobId of jobs) expect((await jobEnd(server, jobId, token)).status).toBe("succeeded");
  const { rows } = await pool().query("select sum(octet_length(content))::int as stored from message");
  expect(rows).toEqual([{ stored: jobs.length * 150_000 }]);
  expect(rows[0].stored).toBeLessThanOrEqual(quota);
  expect(rows[0].stored).toBeGreaterThan(quota - 2 * 150_000);
  const startedAt = performance.now();
  expect(await statusBeforeBody(quota)).toBe(413);
  await annotate(
    `${jobs.length} of 40 uploads of 150 KB were taken: ${megabytes(rows[0].stored)} of ${megabytes(quota)}; one that can't fit was refused without its body after ${Math.round(performance.now() - startedAt)} ms`,
  );
});

/** Counts calls that were not made, for limits that are too high to be reached here. */
const count = (key: string, points: number) =>
  pool().query(
    "insert into rate_limit (key, points, expire) values ($1, $2, $3) on conflict (key) do update set points = excluded.points",
    [key, points, Date.now() + 600_000],
  );

test("failed sign-ins end in an account's trail after a hundred a day, and logins that are started after 1,500", async ({
  annotate,
}) => {
  const signIn = (n: number) =>
    post(
      server,
      "/api/auth/sign-in/email",
      { email: owner.email, password: `wrong ${n}` },
      { Origin: server.url, "X-Forwarded-For": `192.0.2.${n}` },
    );
  await count(`sign-in-failed:${userId}`, 98);
  for (let n = 1; n <= 4; n += 1) expect((await signIn(n)).status).toBe(401);
  // Each is recorded, or counted as one too many, after its answer.
  const recorded = async () =>
    (
      await pool().query(
        `select points, (select count(*)::int from audit_event where action = 'sign_in_failed') as failed
         from rate_limit where key = $1`,
        [`sign-in-failed:${userId}`],
      )
    ).rows;
  await vi.waitFor(async () => expect(await recorded()).toEqual([{ points: 101, failed: 2 }]), 5000);
  await count("device-start-all:all", 1498);
  const start = (n: number) =>
    post(server, "/api/cli/device/start", { machine: "m" }, { "X-Forwarded-For": `2001:db8:${n}::1` });
  const statuses = (await times(6, start)).map(({ status }) => status).sort();
  await annotate(
    `of 4 failed sign-ins after 98 others 2 were recorded; of 6 logins after 1,498 from networks of their own 2 were started`,
  );
  expect(statuses).toEqual([200, 200, 429, 429, 429, 429]);
});

/** The status that answers an upload of which only the headers were sent. */
function statusBeforeBody(bytes: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json", "Content-Length": bytes };
    const sent = request(`${server.url}/api/ingest`, { method: "POST", headers }, (response) => {
      resolve(response.statusCode ?? 0);
      sent.destroy();
    });
    sent.once("error", reject);
    sent.flushHeaders();
  });
}
