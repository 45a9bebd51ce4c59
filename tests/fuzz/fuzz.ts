import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { pool } from "#lib/db/client";
import { makeCase } from "./cases.ts";
import { send } from "./client.ts";
import { findFault } from "./judge.ts";
import { liveBytes } from "./memory.ts";
import { Model } from "./model.ts";
import { type Answer, anyMarker, type Case, getUser, makeMarker, type World } from "./requests.ts";
import type { ProcessState, startTarget } from "./target.ts";

export type Options = {
  seed: number;
  /** Cases `first` to `first + count - 1`. */
  first: number;
  count: number;
  concurrency: number;
  /** Once it is aborted no more cases are started. */
  until: AbortSignal;
  logFile: string;
  progress(line: string): void;
};

type Violation = { index: number; kind: string; what: string };
/** Resident memory in bytes. */
type Sample = { cases: number; web: number; worker: number };
/** The memory of each process after a full garbage collection, by the number of cases that had ended. */
type Live = { cases: number; web: number; worker: number };
export type Report = {
  kinds: Map<string, Map<number, number>>;
  violations: Violation[];
  jobs: { taken: number; succeeded: number; failed: number };
  comparedTraces: number;
  memory: Sample[];
  live: Live[];
  healthMs: number[];
  seconds: number;
};

type Target = Awaited<ReturnType<typeof startTarget>>;

/** Runs cases against a server, and then checks what it stored and logged. */
export async function fuzz(target: Target, world: World, options: Options): Promise<Report> {
  const run = new Run(target, world, options);
  const probe = new Worker(new URL("./probe.ts", import.meta.url), { workerData: { port: target.port } });
  const before = target.processes();
  const startedAt = performance.now();
  const watch = setInterval(() => run.sample(), 1000);
  await Promise.all(Array.from({ length: options.concurrency }, () => run.lane()));
  const seconds = (performance.now() - startedAt) / 1000;
  await run.drain();
  clearInterval(watch);
  const healthMs = await new Promise<number[]>((resolve, reject) => {
    probe.once("message", resolve).once("error", reject);
    probe.postMessage("stop");
  });
  await run.collect();
  run.compareProcesses(before);
  const jobs = await run.compareJobs();
  const comparedTraces = await run.compareTraces();
  run.searchLog();
  const { kinds, violations, memory, live } = run;
  return { kinds, violations, jobs, comparedTraces, memory, live, healthMs, seconds };
}

const warmUpCases = 10_000;

class Run {
  readonly #target: Target;
  readonly #world: World;
  readonly #options: Options;
  readonly #model: Model;
  readonly #jobs = new Map<string, { index: number; kind: string }>();
  #started = 0;
  #ended = 0;
  /** Batches that may have been accepted without the sender knowing. */
  #lost = 0;
  readonly kinds = new Map<string, Map<number, number>>();
  readonly violations: Violation[] = [];
  readonly memory: Sample[] = [];
  readonly live: Live[] = [];

  constructor(target: Target, world: World, options: Options) {
    this.#target = target;
    this.#world = world;
    this.#options = options;
    this.#model = new Model(options.seed);
  }

  /** A sender: runs the next case until there is none. */
  async lane(): Promise<void> {
    const { seed, first, count, until, progress } = this.#options;
    while (this.#started < count && !until.aborted) {
      const index = first + this.#started;
      this.#started += 1;
      const one = makeCase(seed, index, this.#world);
      await this.#perform(one, index);
      this.#ended += 1;
      // By then the caches are full, and every kind of case has run many times.
      if (this.#ended === Math.min(warmUpCases, Math.floor(count / 5))) await this.collect();
      if (this.#ended % 5000 === 0) {
        const mib = (bytes = 0) => Math.round(bytes / 2 ** 20);
        const { web, worker } = this.memory.at(-1) ?? {};
        progress(
          `${this.#ended} cases, ${this.violations.length} violations, web ${mib(web)} worker ${mib(worker)} MiB`,
        );
      }
    }
  }

  async #perform(one: Case, index: number): Promise<void> {
    const firsts: Answer[] = [];
    for (const [at, call] of one.calls.entries()) {
      const answers = await send(this.#target.port, call);
      for (const answer of answers) {
        this.#count(one.kind, answer.status);
        const what = findFault(call, answer);
        if (what) this.#violate(index, one.kind, what);
      }
      if (answers.length === 0) {
        this.#count(one.kind, 0);
        this.#lost += 1;
        this.#model.take(getUser(this.#world, index).id, index, "", undefined);
      }
      const taken = answers.find(({ status, text }) => status === 202 && text.includes("jobId"));
      if (taken) this.#take(index, one, taken, one.batches[at]);
      firsts.push(answers[0] ?? { status: 0, headers: {}, text: "" });
    }
    const what = one.check?.(firsts);
    if (what) this.#violate(index, one.kind, what);
  }

  #take(index: number, one: Case, answer: Answer, batch: Buffer | undefined): void {
    const { jobId } = JSON.parse(answer.text) as { jobId: string };
    if (this.#jobs.has(jobId)) return;
    this.#jobs.set(jobId, { index, kind: one.kind });
    const { seed } = this.#options;
    try {
      this.#model.take(getUser(this.#world, index).id, index, makeMarker(seed, index), batch);
    } catch (error) {
      this.#violate(index, one.kind, `a body that is not a batch was accepted: ${(error as Error).message}`);
    }
  }

  #count(kind: string, status: number): void {
    const statuses = this.kinds.get(kind) ?? new Map<number, number>();
    this.kinds.set(kind, statuses);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }

  #violate(index: number, kind: string, what: string): void {
    this.violations.push({ index, kind, what });
    if (this.violations.length <= 20) this.#options.progress(`violation in case ${index} (${kind}): ${what}`);
  }

  sample(): void {
    const { web, worker } = this.#target.processes();
    this.memory.push({ cases: this.#ended, web: web?.rssBytes ?? 0, worker: worker?.rssBytes ?? 0 });
  }

  async collect(): Promise<void> {
    const { web, worker } = this.#target.processes();
    const readLive = async (pid = 0) => (await liveBytes(this.#options.logFile, pid)) ?? 0;
    this.live.push({ cases: this.#ended, web: await readLive(web?.pid), worker: await readLive(worker?.pid) });
  }

  /** Waits until no job is open, for at most five minutes. */
  async drain(): Promise<void> {
    const deadline = performance.now() + 300_000;
    while (performance.now() < deadline) {
      const { rowCount } = await pool().query("select 1 from ingest_job where status in ('queued', 'running') limit 1");
      if (rowCount === 0) return;
      await sleep(200);
    }
  }

  compareProcesses(before: Record<string, ProcessState>): void {
    const after = this.#target.processes();
    for (const [name, { pid }] of Object.entries(before)) {
      if (after[name]?.pid !== pid) this.#violate(-1, "processes", `the ${name} process was replaced`);
    }
  }

  /** Checks that every job named by a 202 has succeeded, and that there is no other. */
  async compareJobs(): Promise<Report["jobs"]> {
    const { rows } = await pool().query<{ id: string; status: string; code: string | null }>(
      "select id, status, error_code as code from ingest_job where not (id = any($1::uuid[]))",
      [this.#world.jobIds],
    );
    const stored = new Map(rows.map(({ id, status, code }) => [id, { status, code }]));
    for (const [id, { index, kind }] of this.#jobs) {
      const job = stored.get(id);
      if (job?.status !== "succeeded")
        this.#violate(index, kind, `its job is ${job?.status ?? "missing"} (${job?.code})`);
    }
    const unnamed = rows.length - this.#jobs.size;
    if (unnamed > this.#lost)
      this.#violate(-1, "jobs", `${unnamed} jobs that no response named; ${this.#lost} responses were lost`);
    const failed = rows.filter(({ status }) => status === "failed").length;
    return { taken: this.#jobs.size, succeeded: rows.filter(({ status }) => status === "succeeded").length, failed };
  }

  async compareTraces(): Promise<number> {
    const { traces, faults } = await this.#model.compare(
      pool(),
      this.#world.users.map(({ id }) => id),
    );
    for (const { index, what } of faults)
      this.#violate(index, makeCase(this.#options.seed, index, this.#world).kind, what);
    return traces;
  }

  searchLog(): void {
    const lines = readFileSync(this.#options.logFile, "utf8").split("\n");
    for (const line of lines) {
      if (line.includes(anyMarker) || /spoor_[0-9A-Za-z]{36}/.test(line))
        this.#violate(-1, "log", `contains a body: ${line.slice(0, 500)}`);
      // better-auth logs clients' errors at this level.
      if (/"level":"(error|fatal)"/.test(line) && !line.includes('"msg":"better-auth: '))
        this.#violate(-1, "log", line.slice(0, 800));
      if (/process ended/.test(line)) this.#violate(-1, "log", line);
    }
  }
}
