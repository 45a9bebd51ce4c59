import { toText } from "../files/json.ts";
import { type Api, HttpError } from "../server/api.ts";
import type { Limits } from "../server/limits.ts";
import { countBytesInMemory, type Session, type UnsentSession } from "../sessions/session.ts";
import { formatBytes } from "../terminal/format.ts";
import { type Batch, Batcher, encodeBatch, idempotencyKey } from "./batch.ts";
import type { Compressor } from "./compression.ts";
import { type Incomplete, type IngestJob, isFinished, type KeptSession, waitForJob } from "./jobs.ts";
import { PartLines } from "./part-lines.ts";
import type { PictureSender } from "./picture-sender.ts";
import { type SentRecord, sessionKey } from "./sent-record.ts";

export type SentCounts = {
  sessions: number;
  messages: number;
  wireBytes: number;
  created: number;
  updated: number;
  unchanged: number;
  kept: number;
  written: number;
  pending: number;
  jobs: string[];
};

const maxConcurrentUploads = 2;
/** Idempotency keys to try if the server knows one with other bytes. */
const maxKeys = 3;
/** A failed batch is sent again in smaller ones, so sessions stay in memory until then. */
const maxBytesInMemory = 48 * 1024 * 1024;

type Options = {
  api: Api;
  limits: Limits;
  compressor: Compressor;
  record: SentRecord;
  pictures: PictureSender;
  patienceSeconds: number;
  onUnsent(session: UnsentSession): void;
  onIncomplete(session: Session, messageCount: number): void;
  onKept(session: KeptSession): void;
  onNoAppend(): void;
  onProgress(): void;
};

/**
 * Memory is bounded if the caller awaits `waitForCapacity` between sessions. Sessions that the server refuses by name
 * are left out; otherwise a refused batch is halved until the cause is alone.
 */
export class Sender {
  readonly #options: Options;
  readonly #batcher: Batcher;
  readonly #uploads = new Set<Promise<void>>();
  readonly #jobs = new Set<Promise<void>>();
  readonly #lines: PartLines;
  #bytesInMemory = 0;
  #failure: unknown;
  readonly sent: SentCounts = {
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
    this.#lines = new PartLines((part) => this.#start({ sessions: [part], bytes: part.bytes }));
  }

  add(session: Session): void {
    if (this.#lines.takes(session)) return;
    for (const batch of this.#batcher.add(session)) this.#start(batch);
  }

  get #allBytesInMemory(): number {
    return this.#bytesInMemory + this.#lines.waitingBytes;
  }

  async waitForCapacity(): Promise<void> {
    await this.#options.pictures.waitForCapacity();
    while (
      !this.#failure &&
      (this.#uploads.size >= maxConcurrentUploads || this.#allBytesInMemory > maxBytesInMemory)
    ) {
      await Promise.race([...this.#uploads, ...this.#jobs]);
    }
    if (this.#failure) throw this.#failure;
  }

  async finish(): Promise<void> {
    for (const batch of this.#batcher.flush()) this.#start(batch);
    while (this.#uploads.size + this.#jobs.size > 0 && !this.#failure) {
      await Promise.race([...this.#uploads, ...this.#jobs]);
    }
    if (this.#failure) throw this.#failure;
  }

  #start(batch: Batch): void {
    this.#track(this.#uploads, this.#upload(batch), countBatchBytesInMemory(batch));
  }

  #track(group: Set<Promise<void>>, work: Promise<void>, bytes: number): void {
    this.#bytesInMemory += bytes;
    const tracked = work
      .catch((error) => {
        this.#failure ??= error;
      })
      .finally(() => {
        group.delete(tracked);
        this.#bytesInMemory -= bytes;
      });
    group.add(tracked);
  }

  async #upload(batch: Batch, attempt = 0): Promise<void> {
    const { api, limits, compressor, record, pictures, onProgress } = this.#options;
    if (batch.sessions.length === 0) return;
    await pictures.flush();
    const bytes = await encodeBatch(batch, compressor);
    if (bytes.length > limits.wireBytes) {
      const [size, limit] = [formatBytes(bytes.length), formatBytes(limits.wireBytes)];
      return this.#halve(batch, `compressed it has ${size}; the server's limit is ${limit}`);
    }
    const key = idempotencyKey(batch, (session) => record.getState(sessionKey(session)));
    try {
      const { body } = await api.request("/api/ingest", {
        method: "POST",
        body: { bytes, encoding: compressor.encoding },
        headers: { "Idempotency-Key": attempt > 0 ? `${key}-${attempt}` : key },
      });
      this.sent.wireBytes += bytes.length;
      await this.#addJob(toText(body.jobId), batch, bytes.length, attempt);
      onProgress();
    } catch (error) {
      if (!(error instanceof HttpError) || ![400, 413, 422].includes(error.status)) throw error;
      // The account is full if the body is within its limit: smaller batches don't help.
      const isFull = error.status === 413 && error.code === "payload_too_large" && batch.bytes <= limits.decodedBytes;
      if (isFull) throw error;
      await this.#handleRefusal(batch, error, attempt);
    }
  }

  async #addJob(jobId: string, batch: Batch, bytes: number, attempt: number): Promise<void> {
    const { record } = this.#options;
    const sessions = Object.fromEntries(batch.sessions.map((session) => [sessionKey(session), session.state]));
    record.addJob({ jobId, at: new Date().toISOString(), bytes, sessions, status: "queued" });
    await record.save();
    this.sent.jobs.push(jobId);
    this.#track(this.#jobs, this.#followJob(jobId, batch, attempt), countBatchBytesInMemory(batch));
  }

  async #followJob(jobId: string, batch: Batch, attempt: number): Promise<void> {
    const { api, record, patienceSeconds, onProgress } = this.#options;
    const job = await waitForJob(api, jobId, patienceSeconds);
    if (!isFinished(job.status)) {
      this.sent.pending++;
      for (const session of batch.sessions) this.#lines.end(session, false);
      return;
    }
    if (job.status === "succeeded" && !job.knowsAppend) this.#options.onNoAppend();
    const incomplete = listIncomplete(batch, job);
    for (const one of record.updateJob(jobId, { ...job, incomplete })) this.#options.onKept(one);
    if (job.status === "succeeded") this.#takeResult(batch, job, incomplete);
    else await this.#handleFailedJob(batch, job, attempt);
    await record.save();
    onProgress();
  }

  #takeResult({ sessions }: Batch, job: IngestJob, incomplete: Incomplete[]): void {
    const messageCounts = new Map(incomplete.map((one) => [sessionKey(one), one.messageCount]));
    const isFollowUp = sessions.some((session) => this.#lines.isFollowUp(session));
    for (const session of sessions) {
      const messageCount = messageCounts.get(sessionKey(session));
      if (messageCount !== undefined) this.#options.onIncomplete(session, messageCount);
      else {
        this.sent.messages += session.messages;
        if (session.isLast) this.sent.sessions++;
      }
      this.#lines.end(session, messageCount === undefined);
    }
    this.sent.written += job.written;
    // The parts of a session count as one session.
    if (isFollowUp) return;
    for (const count of ["created", "updated", "unchanged", "kept"] as const) this.sent[count] += job[count];
  }

  /** The job may be an earlier run's with the same key, so another key is tried. */
  async #handleFailedJob(batch: Batch, job: IngestJob, attempt: number): Promise<void> {
    const named = [...job.error.matchAll(/traces\.(\d+)/g)]
      .map(([, index]) => Number(index))
      .filter((index) => batch.sessions[index]);
    if (named.length > 0) return this.#sendWithout(batch, named, () => job.error, attempt + 1);
    if (attempt === 0) return this.#upload(batch, 1);
    await this.#halve(batch, job.error);
  }

  async #handleRefusal(batch: Batch, refusal: HttpError, attempt: number): Promise<void> {
    if (refusal.status === 422 && attempt < maxKeys) return this.#upload(batch, attempt + 1);
    const named = refusal.errors
      .flatMap(({ path }) => /^traces\.(\d+)(?:\.|$)/.exec(path)?.[1] ?? [])
      .map(Number)
      .filter((index) => batch.sessions[index]);
    if (named.length === 0 || refusal.status === 413) return this.#halve(batch, refusal.message);
    await this.#sendWithout(batch, named, (index) => findReason(refusal, index), attempt);
  }

  async #sendWithout(
    { sessions }: Batch,
    indexes: number[],
    explain: (index: number) => string,
    attempt: number,
  ): Promise<void> {
    const excluded = new Set(indexes);
    for (const index of excluded) {
      const session = sessions[index];
      if (session) this.#leaveOut(session, explain(index));
    }
    const rest = sessions.filter((_, index) => !excluded.has(index));
    await this.#upload({ sessions: rest, bytes: sumBytes(rest) }, attempt);
  }

  async #halve({ sessions }: Batch, reason: string): Promise<void> {
    const [only] = sessions;
    if (only && sessions.length === 1) return this.#leaveOut(only, reason);
    const middle = Math.ceil(sessions.length / 2);
    for (const half of [sessions.slice(0, middle), sessions.slice(middle)]) {
      await this.#upload({ sessions: half, bytes: sumBytes(half) });
    }
  }

  #leaveOut(session: Session, reason: string): void {
    const { source, sourceId, bytes, state } = session;
    this.#lines.end(session, false);
    this.#options.record.addUnsendableSession(sessionKey(session), state.hash);
    this.#options.onUnsent({ source, sourceId, reason: `${reason} (session size: ${formatBytes(bytes)})` });
  }
}

function findReason(refusal: HttpError, index: number): string {
  const error = refusal.errors.find(({ path }) => path.startsWith(`traces.${index}.`) || path === `traces.${index}`);
  const path = error?.path.replace(/^traces\.\d+\.?/, "") || "it";
  return error ? `${path} ${error.message}` : refusal.message;
}

/** A server without `append` needs every appended session whole. */
function listIncomplete({ sessions }: Batch, { knowsAppend, incomplete }: IngestJob): Incomplete[] {
  if (knowsAppend) return incomplete;
  const appended = sessions.filter(({ append }) => append !== undefined);
  return appended.map(({ source, sourceId }) => ({ source, sourceId, messageCount: 0 }));
}

const countBatchBytesInMemory = ({ sessions }: Batch) =>
  sessions.reduce((total, session) => total + countBytesInMemory(session), 0);

const sumBytes = (sessions: Session[]) => sessions.reduce((total, { bytes }) => total + bytes, 0);
