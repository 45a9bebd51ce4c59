import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { createOwner } from "#lib/auth/accounts";
import { operator } from "#lib/auth/audit";
import { openSetup } from "#lib/auth/setup";
import { setEnv } from "#lib/core/env";
import type { Scope } from "#lib/core/fields";
import { closeDatabase, pool } from "#lib/db/client";
import { freePort } from "#lib/db/embedded/ports";
import { decideLogin, findLogin } from "#lib/device/login";
import { endThreads } from "#lib/ingest/decode/thread-pool";
import { program, supervise } from "#server/processes";
import { checkStatements, Statements } from "../growth/recorded.ts";
import { emptyDatabase, freshDatabase, switchDatabase, testEnvironment } from "./database.ts";
import { tell, tellable } from "./told.ts";

export const setupToken = "a set-up token for tests";
/** The secret of `/api/cron` and `/api/metrics` on a shared server. */
export const operatorSecret = "an operator's secret for tests";

const processes = {
  web: { name: "web", words: [program("web")] },
  worker: { name: "worker", words: [program("worker")] },
};

/**
 * Node's options with which a server's processes accept this process's hashes, which `cheap-hashes.ts` may have made
 * cheap.
 */
export const hashOptions = (): string[] =>
  "spoorHashesAreCheap" in globalThis ? [`--import=${new URL("./cheap-hashes.ts", import.meta.url).href}`] : [];

type Options = {
  worker?: boolean;
  environment?: Record<string, string>;
  /** Scopes of the token of `provideOwnedServer`; by default those of a client that requests none. */
  scopes?: readonly Scope[];
  /** Changes the URL by which the server, but not the test, reaches its database. */
  via?: (databaseUrl: string) => Promise<string>;
  /** The socket that accepts other variables for its web process. */
  tellAt?: string;
};

/** Starts a built server with its own database, and a worker unless `worker` is false. */
export async function startServer(options: Options = {}) {
  Object.assign(owner, freshOwner);
  const database = await freshDatabase();
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const environment: Record<string, string> = {
    ...testEnvironment,
    DATABASE_URL: database.url,
    PORT: String(port),
    BASE_URL: url,
    SETUP_TOKEN: setupToken,
    NODE_ENV: "production",
    // Later servers of a run use code that earlier ones compiled.
    NODE_COMPILE_CACHE: join(tmpdir(), "spoor-compiled"),
    ...options.environment,
  };
  setEnv(environment);
  await openSetup();
  const wanted = options.worker === false ? [processes.web] : [processes.worker, processes.web];
  const reached = { ...environment, ...(options.via ? { DATABASE_URL: await options.via(database.url) } : {}) };
  const statements = new Statements();
  const told = options.tellAt ? tellable(options.tellAt) : undefined;
  const nodeOptions = [...hashOptions(), told?.option, options.environment?.NODE_OPTIONS].join(" ");
  const started = { ...reached, ...statements.environment(nodeOptions) };
  const running = await supervise(wanted, { ...started, ...told?.environment });
  return {
    url,
    environment,
    /** Starts a worker for it, which its caller stops. */
    startWorker: () => supervise([processes.worker], started),
    /** The statements of its processes on tenant tables. */
    statements: () => statements.read(),
    stop: async () => {
      await running.stop();
      await database.drop();
      await statements.check();
    },
  };
}

type Started = Awaited<ReturnType<typeof startServer>>;
export type Server = Pick<Started, "url" | "stop">;

/** The database that the files of a Vitest worker share. */
const kept = globalThis as typeof globalThis & { spoorTestDatabase?: Record<string, string> };

/** Provides the shared database, emptied, for a test file. @returns its owner's account */
export async function provideOwner(): Promise<{ userId: string }> {
  if (kept.spoorTestDatabase) {
    setEnv({ ...kept.spoorTestDatabase, SETUP_TOKEN: setupToken });
    // The pool may belong to another database that the previous file used, or that its timers opened again.
    if (pool().options.connectionString !== kept.spoorTestDatabase.DATABASE_URL) await closeDatabase();
    await emptyDatabase();
    await pool().query("delete from process_heartbeat");
  } else {
    const { url } = await freshDatabase();
    kept.spoorTestDatabase = { ...testEnvironment, DATABASE_URL: url };
    setEnv({ SETUP_TOKEN: setupToken });
  }
  Object.assign(owner, freshOwner);
  return { userId: await makeUser() };
}

/** The shared server of a run, and the worker that the previous file may have started. */
const shared: { server?: Promise<Started>; worker?: { stop: () => Promise<void> } | undefined; told: string[] } = {
  told: [],
};

/** The operator's secrets of the shared server. */
const sharedEnvironment = { CRON_SECRET: operatorSecret, METRICS_TOKEN: operatorSecret };

/** Variables that a web process reads at each request and a worker does not read. */
const readAnew = new Set([
  "AUTH_RATE_LIMIT",
  "CRON_SECRET",
  "INGEST_MAX_BYTES",
  "INGEST_MAX_WIRE_BYTES",
  "SIGN_UP",
  "TELEMETRY_ANONYMOUS",
  "TELEMETRY_SINK",
  "TELEMETRY_SINK_KEY",
  "TELEMETRY_SINK_URL",
  "UPLOAD_RETENTION_DAYS",
  "USER_QUOTA_BYTES",
]);

/**
 * Provides a server for a test file: the shared one, emptied, with the file's environment. If a variable is only read
 * at the start, the file gets its own server, which is stopped after its last test.
 */
export async function provideServer(options: Options = {}): Promise<Started> {
  if (options.via || Object.keys(options.environment ?? {}).some((name) => !readAnew.has(name))) {
    const server = await startServer(options);
    afterAll(() => server.stop());
    return server;
  }
  afterAll(async () => {
    await endThreads();
    await checkStatements((await shared.server)?.statements() ?? []);
  });
  return shareServer(options);
}

/** Prepares the shared server for a file. */
async function shareServer({ worker, environment }: Options = {}): Promise<Started> {
  const tellAt = join(tmpdir(), `spoor-tell-${process.pid}`);
  const isNew = shared.server === undefined;
  shared.server ??= startServer({ worker: false, environment: sharedEnvironment, tellAt });
  const server = await shared.server;
  if (worker === false) {
    await shared.worker?.stop();
    shared.worker = undefined;
  }
  if (!isNew) {
    await switchDatabase(server.environment);
    await emptyDatabase();
    if (!shared.worker) await pool().query("delete from process_heartbeat");
    Object.assign(owner, freshOwner);
    await openSetup();
  }
  const before = Object.fromEntries(shared.told.map((name) => [name, server.environment[name]]));
  shared.told = Object.keys(environment ?? {});
  await tell(tellAt, { ...before, ...environment });
  setEnv({ ...environment });
  if (worker !== false) shared.worker ??= await server.startWorker();
  return { ...server, environment: { ...server.environment, ...environment } };
}

/** Like `provideServer`, with an owner's account and token. */
export async function provideOwnedServer(
  options?: Options,
): Promise<{ server: Started; userId: string; token: string }> {
  const server = await provideServer(options);
  const userId = await makeUser();
  return { server, userId, token: await logIn(server, userId, undefined, options?.scopes) };
}

/** The first account that `makeUser` creates; a file may change it. */
export const owner = { name: "Ada", email: "ada@example.org", password: "correct horse battery" };
const freshOwner = { ...owner };

/** Creates an account directly in the database; the first one is the owner's. @returns the user's id */
export async function makeUser(account = owner): Promise<string> {
  const { rows } = await pool().query<{ count: number }>(`select count(*)::int as count from "user"`);
  if (rows[0]?.count === 0) await createOwner(setupToken, account, operator);
  else await pool().query(`insert into "user" (name, email) values ($1, $2)`, [account.name, account.email]);
  const found = await pool().query<{ id: string }>(`select id from "user" where email = $1`, [account.email]);
  return found.rows[0]?.id ?? "";
}

/** Gets a token by a device login over HTTP that `userId` approves with the requested scopes. */
export async function logIn(
  server: Server,
  userId: string,
  machine = "ada-laptop",
  scopes?: readonly Scope[],
): Promise<string> {
  const body = { machine, scopes };
  const started = await post(server, "/api/cli/device/start", body, { "X-Forwarded-For": someAddress() });
  const { deviceCode, userCode } = (await started.json()) as { deviceCode: string; userCode: string };
  const login = await findLogin(userId, userCode);
  await decideLogin(userId, login?.id ?? "", "approved", operator);
  const polled = await fetch(`${server.url}/api/cli/device/poll?deviceCode=${deviceCode}`);
  const { token } = (await polled.json()) as { token?: string };
  if (token === undefined) throw new Error(`the approved login answered ${polled.status}`);
  return token;
}

/** Makes an address that no other test uses, for limits by address. */
export const someAddress = () => `10.${octet()}.${octet()}.${octet()}`;
const octet = () => Math.floor(Math.random() * 256);

export function post(
  server: Server,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return fetch(server.url + path, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: text,
  });
}

export function get(server: Server, path: string, token?: string): Promise<Response> {
  return fetch(server.url + path, token ? { headers: { Authorization: `Bearer ${token}` } } : {});
}

/** Waits until a job has ended. @returns the job */
export async function jobEnd(server: Server, jobId: string, token: string, seconds = 60): Promise<JobJson> {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    const job = (await (await get(server, `/api/ingest/${jobId}`, token)).json()) as JobJson;
    if (job.status === "succeeded" || job.status === "failed") return job;
    if (Date.now() > deadline) throw new Error(`the job is still ${job.status}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export type JobJson = {
  status: string;
  attempts: number;
  traces: Record<"received" | "created" | "updated" | "unchanged" | "kept" | "incomplete", number>;
  messages: { received: number; written: number };
  incomplete?: { source: string; sourceId: string; messageCount: number }[];
  error: { code: string; message: string } | null;
};

/** Sends traces and waits for their job. */
export async function ingest(server: Server, token: string, traces: unknown[]): Promise<JobJson> {
  const response = await post(server, "/api/ingest", { traces }, { Authorization: `Bearer ${token}` });
  if (response.status !== 202) throw new Error(`ingest answered ${response.status}: ${await response.text()}`);
  return jobEnd(server, ((await response.json()) as { jobId: string }).jobId, token);
}
