import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { expect } from "vitest";
import { freePort } from "#lib/db/embedded/ports";
import { testEnvironment } from "../support/database.ts";
import type { Cluster } from "./cluster.ts";
import { applyUploads, type Counts, makeKey, type plain, type SentTrace } from "./model.ts";
import { type Break, SpoorProcess } from "./process.ts";
import { until } from "./wait.ts";

/** Contained in everything that is sent; must not appear in any log. */
export const canary = "canary-7f3a";

/** The result of sending a batch; without a status if the connection broke first. */
export type Sent = { status: number | undefined; jobId: string | undefined; retryAfter: string | null; ms: number };

type JobRow = {
  id: string;
  sequence: string;
  status: string;
  attempts: number;
  key: string | null;
  counts: Counts;
  startedAt: Date | null;
  finishedAt: Date | null;
};

/** How processes are broken, and their environment. */
export type ProcessOptions = { broken?: Break; kept?: boolean; environment?: Record<string, string> };

/** A running Spoor with its own database, and a record of what was sent to it. */
export class Spoor {
  readonly cluster: Cluster;
  readonly database: string;
  readonly db: pg.Pool;
  readonly processes: SpoorProcess[] = [];
  #web: SpoorProcess | undefined;
  #accepted = new Map<string, SentTrace[]>();
  #unanswered = new Map<string, SentTrace[]>();
  #deleted = new Set<string>();
  url = "";

  private constructor(cluster: Cluster, database: string) {
    this.cluster = cluster;
    this.database = database;
    this.db = new pg.Pool({ connectionString: cluster.urlOf(database), max: 4, connectionTimeoutMillis: 5000 });
    // A killed server breaks connections, idle ones as well.
    this.db.on("error", () => {});
    this.db.on("connect", (client) => client.on("error", () => {}));
  }

  /** @param options.worker false for none; @param options.tablespace where the database lies */
  static async start(
    cluster: Cluster,
    options: { worker?: ProcessOptions | false; web?: ProcessOptions | false; tablespace?: string } = {},
  ): Promise<Spoor> {
    const spoor = new Spoor(cluster, await cluster.createDatabase(options.tablespace));
    await Promise.all([
      options.web === false ? undefined : spoor.startWeb(options.web),
      options.worker === false ? undefined : spoor.startWorker(options.worker),
    ]);
    return spoor;
  }

  async startWeb(options: ProcessOptions = {}): Promise<SpoorProcess> {
    const port = await freePort();
    this.url = `http://127.0.0.1:${port}`;
    const web = await this.#launch("web", { PORT: String(port), BASE_URL: this.url, HOST: "127.0.0.1" }, options);
    this.#web = web;
    return web;
  }

  startWorker(options: ProcessOptions = {}): Promise<SpoorProcess> {
    return this.#launch("worker", {}, options);
  }

  async #launch(role: "web" | "worker", own: Record<string, string>, options: ProcessOptions): Promise<SpoorProcess> {
    const environment = {
      ...testEnvironment,
      DATABASE_URL: this.cluster.urlOf(this.database),
      NODE_ENV: "production",
      LOG_LEVEL: "trace",
      ...own,
      ...options.environment,
    };
    const launched = new SpoorProcess(role, environment, options);
    this.processes.push(launched);
    return launched.ready();
  }

  get web(): SpoorProcess {
    if (!this.#web) throw new Error("this Spoor has no web process");
    return this.#web;
  }

  get token(): string {
    return this.cluster.tokens.good;
  }

  get userId(): string {
    return this.cluster.userId;
  }

  get headers(): Record<string, string> {
    return { Authorization: `Bearer ${this.token}`, "Content-Type": "application/json" };
  }

  /** Where nothing else runs, as `tests/api/client.ts` takes a server. */
  async stop(): Promise<void> {
    await Promise.all(this.processes.filter(({ isAlive }) => isAlive).map((one) => one.kill()));
    await this.db.end();
    await this.cluster.dropDatabase(this.database);
  }

  /** Sends a batch once. @param key its Idempotency-Key; a batch without one may be stored only if the response is 202 */
  async send(traces: SentTrace[], key?: string, url = this.url): Promise<Sent> {
    const startedAt = performance.now();
    if (key) this.#unanswered.set(key, traces);
    try {
      const response = await fetch(`${url}/api/ingest`, {
        method: "POST",
        headers: { ...this.headers, ...(key ? { "Idempotency-Key": key } : {}) },
        body: JSON.stringify({ traces }),
      });
      const { jobId } = (await response.json()) as { jobId?: string };
      if (response.status === 202 && jobId) this.note(jobId, traces);
      const ms = performance.now() - startedAt;
      return { status: response.status, jobId, retryAfter: response.headers.get("retry-after"), ms };
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // what fetch throws for a broken connection
      return { status: undefined, jobId: undefined, retryAfter: null, ms: performance.now() - startedAt };
    }
  }

  /** Records a batch that was accepted in another way. */
  note(jobId: string, traces: SentTrace[]): void {
    this.#accepted.set(jobId, traces);
  }

  /** Sends a batch that has to be accepted. @returns the job's id */
  async upload(traces: SentTrace[], key?: string): Promise<string> {
    const { status, jobId } = await this.send(traces, key);
    expect(status).toBe(202);
    return jobId ?? "";
  }

  /** Sends a batch under one key until it is accepted, as a client does. @returns each refusal's status on the way */
  async uploadPatiently(traces: SentTrace[], key = randomUUID(), seconds = 60): Promise<Sent[]> {
    const refusals: Sent[] = [];
    const deadline = performance.now() + seconds * 1000;
    for (;;) {
      const sent = await this.send(traces, key);
      if (sent.status === 202) return refusals;
      refusals.push(sent);
      if (performance.now() > deadline)
        throw new Error(`Not taken within ${seconds} s: ${JSON.stringify(refusals.slice(-3))}`);
      await sleep(40);
    }
  }

  /** Deletes a trace as its owner does. */
  async delete(trace: SentTrace): Promise<void> {
    const stored = (await this.readTraces()).find((one) => makeKey(one) === makeKey(trace));
    const answer = await fetch(`${this.url}/api/traces/${stored?.id}`, { method: "DELETE", headers: this.headers });
    expect(answer.status).toBe(204);
    this.#deleted.add(makeKey(trace));
  }

  /** The user's jobs in the order in which they were accepted. */
  async jobs(): Promise<JobRow[]> {
    const { rows } = await this.db.query<JobRow>(
      `select id, sequence, status, attempts, idempotency_key as key, started_at as "startedAt",
         finished_at as "finishedAt", json_build_object('created', traces_created, 'updated', traces_updated,
           'unchanged', traces_unchanged, 'kept', traces_kept) as counts
       from ingest_job where user_id = $1 order by sequence`,
      [this.userId],
    );
    return rows;
  }

  async job(jobId: string): Promise<JobRow> {
    const found = (await this.jobs()).find(({ id }) => id === jobId);
    if (!found) throw new Error("there is no such job");
    return found;
  }

  /** Waits until a job meets a condition. */
  jobIs(jobId: string, status: string, seconds = 30): Promise<JobRow> {
    return until(seconds, `a job is ${status}`, async () => {
      const job = await this.job(jobId);
      return job.status === status && job;
    });
  }

  /** Waits until no job is open. */
  async drained(seconds = 90): Promise<void> {
    await until(seconds, "every job has ended", async () => {
      const jobs = await this.jobs();
      return jobs.every(({ status }) => status === "succeeded" || status === "failed");
    });
  }

  /** All traces as the API returns them. */
  async readTraces(): Promise<(Record<string, unknown> & { id: string; source: string; sourceId: string })[]> {
    const found = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const page = await this.read(`/api/traces?limit=200${cursor ? `&cursor=${cursor}` : ""}`);
      found.push(...page.traces);
      cursor = page.nextCursor;
    }
    return found;
  }

  // biome-ignore lint/suspicious/noExplicitAny: the contents of responses are what is tested
  async read(path: string): Promise<any> {
    const response = await fetch(this.url + path, { headers: this.headers });
    expect(response.status).toBe(200);
    return response.json();
  }

  async readMessages(traceId: string): Promise<unknown[]> {
    const found = [];
    for (let after: number | null = -1; after !== null; ) {
      const behind: string = after < 0 ? "" : `&after=${after}`;
      const page = await this.read(`/api/traces/${traceId}/messages?limit=1000${behind}`);
      found.push(...page.messages);
      after = page.nextAfter;
    }
    return found;
  }

  /**
   * Checks what must hold after every fault (docs/faults.md).
   *
   * @param options.inOrder whether the jobs ran in the order of their uploads, so that their counts are known as well.
   * @param options.failed jobs that must have failed, and stored nothing.
   * @returns a summary of what was compared.
   */
  async check(options: { inOrder?: boolean; failed?: string[] } = {}): Promise<string> {
    await this.drained();
    const jobs = await this.jobs();
    const sent = jobs.map(({ id, key }) => this.#accepted.get(id) ?? this.#unanswered.get(key ?? ""));
    expect(sent.filter((one) => one === undefined)).toEqual([]); // a job that no response named, and no request explains
    expect([...this.#accepted.keys()].filter((id) => !jobs.some((job) => job.id === id))).toEqual([]);
    const failed = jobs.filter(({ status }) => status === "failed").map(({ id }) => id);
    expect(failed).toEqual(options.failed ?? []);
    const uploads = sent.map((traces, at) => (failed.includes(jobs[at]?.id ?? "") ? [] : (traces ?? [])));
    const { traces, counts } = applyUploads(uploads, this.#deleted);
    if (options.inOrder) expect(jobs.map((job) => job.counts)).toEqual(counts);
    const messages = await this.#compare(traces);
    await this.#noKeyTwice();
    await this.noSecretInLogs();
    return `${jobs.length} jobs, ${traces.size} traces and ${messages} messages as in the model`;
  }

  async #compare(wanted: Map<string, ReturnType<typeof plain>>): Promise<number> {
    const stored = await this.readTraces();
    expect(stored.map(makeKey).sort()).toEqual([...wanted.keys()].sort());
    let count = 0;
    for (const { id, source, sourceId, title, model, project, messageCount } of stored) {
      const messages = await this.readMessages(id);
      const one = wanted.get(makeKey({ source, sourceId }));
      const own = { source, sourceId, title: one?.title ? title : null, model, project, messages };
      expect(own).toEqual(one);
      expect(messageCount).toBe(messages.length);
      count += messages.length;
    }
    return count;
  }

  async #noKeyTwice(): Promise<void> {
    const { rows } = await this.db.query(
      `select (select count(*)::int from (select 1 from trace group by user_id, source, source_id having count(*) > 1) as t)
         as traces,
       (select count(*)::int from (select 1 from message group by user_id, trace_id, position having count(*) > 1) as m)
         as messages,
       (select count(*)::int from (select 1 from ingest_job where idempotency_key is not null
          group by user_id, idempotency_key having count(*) > 1) as j) as jobs,
       (select count(*)::int from upload where not exists
          (select 1 from ingest_job where user_id = upload.user_id and id = job_id)) as uploads,
       (select count(*)::int from message where not exists
          (select 1 from trace where user_id = message.user_id and id = trace_id)) as lost`,
    );
    expect(rows[0]).toEqual({ traces: 0, messages: 0, jobs: 0, uploads: 0, lost: 0 });
  }

  /** Checks that no content and no token is in the output of the processes or of PostgreSQL. */
  async noSecretInLogs(): Promise<void> {
    const texts = [...this.processes.map(({ output }) => output), await this.cluster.log()];
    for (const secret of [canary, ...Object.values(this.cluster.tokens)]) {
      expect(texts.flatMap((text) => text.split("\n").filter((line) => line.includes(secret)))).toEqual([]);
    }
  }
}
