import { setTimeout as sleep } from "node:timers/promises";
import { type Api, HttpError } from "../server/api.ts";
import type { Limits } from "../server/limits.ts";
import { formatBytes, type Session, type UnsentSession } from "../sessions/session.ts";
import { type Batch, Batcher, bodyOf, idempotencyKeyOf } from "./batch.ts";
import type { Compressor } from "./compression.ts";
import { isFinished, type SentRecord, sessionKey } from "./sent-record.ts";

/** What became of everything that was sent. */
export type Sent = {
  sessions: number;
  messages: number;
  /** Of the bodies, compressed. */
  wireBytes: number;
  created: number;
  updated: number;
  unchanged: number;
  kept: number;
  written: number;
  /** Jobs that the server was still busy with when the wait for them was given up on. */
  pending: number;
  jobs: string[];
};

const uploadsAtOnce = 2;
/** Keys that are tried where the server knows one with other bytes. */
const maxKeys = 3;
/** Bodies that are held until their job has ended: what a failed one needs to be sent in parts. */
const maxHeldBytes = 48 * 1024 * 1024;

type Options = {
  api: Api;
  limits: Limits;
  compressor: Compressor;
  record: SentRecord;
  /** How long a job is waited for, in seconds. */
  patienceSeconds: number;
  left(left: UnsentSession): void;
  /** Is told whenever something has moved. */
  moved(): void;
};

/**
 * Sends sessions in batches and waits for their jobs. What it holds is bounded: `room` has to be awaited between sessions.
 * A batch that the server refuses loses the sessions that it names; where it names none, the batch is halved until it does.
 */
export class Sender {
  readonly #options: Options;
  readonly #batcher: Batcher;
  readonly #running = new Set<Promise<void>>();
  readonly #jobs = new Set<Promise<void>>();
  #heldBytes = 0;
  #failure: unknown;
  readonly sent: Sent = {
    sessions: 0,
    messages: 0,
    wireBytes: 0,
    created: 0,
    updated: 0,
    unchanged: 0,
    kept: 0,
    written: 0,
    pending: 0,
    jobs: [],
  };

  constructor(options: Options) {
    this.#options = options;
    this.#batcher = new Batcher(options.limits);
  }

  add(session: Session): void {
    for (const batch of this.#batcher.add(session)) this.#start(batch);
  }

  /** Waits until more may be added. @throws where sending has failed for good */
  async room(): Promise<void> {
    while (!this.#failure && (this.#running.size >= uploadsAtOnce || this.#heldBytes > maxHeldBytes)) {
      await Promise.race([...this.#running, ...this.#jobs]);
    }
    if (this.#failure) throw this.#failure;
  }

  /** Sends what is left and waits until every job has ended. @throws where sending has failed for good */
  async finish(): Promise<void> {
    for (const batch of this.#batcher.flush()) this.#start(batch);
    while (this.#running.size + this.#jobs.size > 0 && !this.#failure) {
      await Promise.race([...this.#running, ...this.#jobs]);
    }
    if (this.#failure) throw this.#failure;
  }

  #start(batch: Batch): void {
    this.#track(this.#running, this.#upload(batch), heldBytes(batch));
  }

  #track(group: Set<Promise<void>>, work: Promise<void>, bytes: number): void {
    this.#heldBytes += bytes;
    const tracked = work
      .catch((error) => {
        this.#failure ??= error;
      })
      .finally(() => {
        group.delete(tracked);
        this.#heldBytes -= bytes;
      });
    group.add(tracked);
  }

  async #upload(batch: Batch, again = 0): Promise<void> {
    const { api, limits, compressor, record, moved } = this.#options;
    if (batch.sessions.length === 0) return;
    const bytes = await bodyOf(batch, compressor);
    if (bytes.length > limits.wireBytes) {
      return this.#part(
        batch,
        `compressed it has ${formatBytes(bytes.length)}, and the server takes up to ${formatBytes(limits.wireBytes)}`,
      );
    }
    const key = idempotencyKeyOf(batch, (session) => record.hashOf(sessionKey(session)));
    try {
      const { body } = await api.ask("/api/ingest", {
        method: "POST",
        body: { bytes, encoding: compressor.encoding },
        headers: { "Idempotency-Key": again > 0 ? `${key}-${again}` : key },
      });
      this.sent.wireBytes += bytes.length;
      await this.#noteJob(String(body.jobId), batch, bytes.length, again);
      moved();
    } catch (error) {
      if (!(error instanceof HttpError) || ![400, 413, 422].includes(error.status)) throw error;
      await this.#refused(batch, error, again);
    }
  }

  async #noteJob(jobId: string, batch: Batch, bytes: number, again: number): Promise<void> {
    const { record } = this.#options;
    const sessions = Object.fromEntries(batch.sessions.map((session) => [sessionKey(session), session.hash]));
    record.noteJob({ jobId, at: new Date().toISOString(), bytes, sessions, status: "queued" });
    await record.save();
    this.sent.jobs.push(jobId);
    this.#track(this.#jobs, this.#follow(jobId, batch, again), heldBytes(batch));
  }

  async #follow(jobId: string, batch: Batch, again: number): Promise<void> {
    const { api, record, patienceSeconds, moved } = this.#options;
    const job = await jobEnd(api, jobId, patienceSeconds);
    if (!isFinished(job.status)) {
      this.sent.pending++;
      return;
    }
    record.settle(jobId, job.status, job.error);
    if (job.status === "succeeded") this.#count(batch, job);
    else await this.#failed(batch, job, again);
    await record.save();
    moved();
  }

  #count({ sessions }: Batch, job: Job): void {
    this.sent.sessions += sessions.length;
    for (const { messages } of sessions) this.sent.messages += messages;
    for (const count of ["created", "updated", "unchanged", "kept", "written"] as const) this.sent[count] += job[count];
  }

  /** A failed job of an earlier run answers for the same bytes: they get one more try under another key. */
  async #failed(batch: Batch, job: Job, again: number): Promise<void> {
    const named = [...job.error.matchAll(/traces\.(\d+)/g)]
      .map(([, index]) => Number(index))
      .filter((index) => batch.sessions[index]);
    if (named.length > 0) return this.#without(batch, named, job.error, again + 1);
    if (again === 0) return this.#upload(batch, 1);
    await this.#part(batch, job.error);
  }

  async #refused(batch: Batch, refusal: HttpError, again: number): Promise<void> {
    if (refusal.status === 422 && again < maxKeys) return this.#upload(batch, again + 1);
    const named = refusal.errors
      .flatMap(({ path }) => /^traces\.(\d+)(?:\.|$)/.exec(path)?.[1] ?? [])
      .map(Number)
      .filter((index) => batch.sessions[index]);
    if (named.length === 0 || refusal.status === 413) return this.#part(batch, refusal.message);
    const reasonOf = (index: number) => {
      const fault = refusal.errors.find(
        ({ path }) => path.startsWith(`traces.${index}.`) || path === `traces.${index}`,
      );
      const path = fault?.path.replace(/^traces\.\d+\.?/, "") || "it";
      return fault ? `${path} ${fault.message}` : refusal.message;
    };
    await this.#without(batch, named, reasonOf, again);
  }

  async #without(
    { sessions }: Batch,
    named: number[],
    reason: string | ((index: number) => string),
    again: number,
  ): Promise<void> {
    const out = new Set(named);
    for (const index of out) {
      const session = sessions[index];
      if (session) this.#leave(session, typeof reason === "string" ? reason : reason(index));
    }
    const rest = sessions.filter((_, index) => !out.has(index));
    await this.#upload({ sessions: rest, bytes: sum(rest) }, again);
  }

  /** Nobody says which session it is: each half is tried by itself. */
  async #part({ sessions }: Batch, reason: string): Promise<void> {
    const [only] = sessions;
    if (only && sessions.length === 1) return this.#leave(only, reason);
    const middle = Math.ceil(sessions.length / 2);
    for (const half of [sessions.slice(0, middle), sessions.slice(middle)]) {
      await this.#upload({ sessions: half, bytes: sum(half) });
    }
  }

  #leave(session: Session, reason: string): void {
    const { source, sourceId, bytes, hash } = session;
    this.#options.record.noteLeft(sessionKey(session), hash);
    this.#options.left({ source, sourceId, reason: `${reason} (${formatBytes(bytes)} in all)` });
  }
}

const heldBytes = ({ sessions }: Batch) =>
  sessions.reduce((total, { body, bytes }) => total + ("packed" in body ? body.packedBytes : bytes), 0);

const sum = (sessions: Session[]) => sessions.reduce((total, { bytes }) => total + bytes, 0);

export type Job = {
  status: string;
  created: number;
  updated: number;
  unchanged: number;
  kept: number;
  written: number;
  error: string;
};

/** Waits until a job has ended, or the patience has. */
export async function jobEnd(api: Api, jobId: string, patienceSeconds: number): Promise<Job> {
  const deadline = performance.now() + patienceSeconds * 1000;
  for (let milliseconds = 50; ; milliseconds = Math.min(2000, milliseconds * 1.5)) {
    const job = await readJob(api, jobId);
    if (isFinished(job.status) || performance.now() > deadline) return job;
    await sleep(milliseconds);
  }
}

/** A job as `GET /api/ingest/{jobId}` tells it. @throws as `Api.ask` */
async function readJob(api: Api, jobId: string): Promise<Job> {
  const { body } = await api.ask(`/api/ingest/${jobId}`);
  const counts = (body.traces ?? {}) as Record<string, number>;
  const messages = (body.messages ?? {}) as Record<string, number>;
  const error = body.error as { code?: string; message?: string } | null;
  return {
    status: String(body.status),
    created: counts.created ?? 0,
    updated: counts.updated ?? 0,
    unchanged: counts.unchanged ?? 0,
    kept: counts.kept ?? 0,
    written: messages.written ?? 0,
    error: error?.message ?? "",
  };
}
