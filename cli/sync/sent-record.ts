import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Host } from "../adapters/adapter.ts";
import { CommandError } from "../errors.ts";
import { isGone, listFolder, statInput } from "../files/discovery.ts";
import { stateFolder, writeFileAtomically } from "../files/state-files.ts";
import { type AdapterInput, inputKey } from "../sessions/inputs.ts";
import {
  beginAgain,
  type Kept,
  type RecordedSession,
  type SentState,
  type SessionLabels,
} from "../sessions/session.ts";
import { isFinished, type KeptSession } from "./jobs.ts";
import { type InputSessions, type ReadInput, readStored, type SentJob, type StoredRecord } from "./stored-record.ts";
import { takeTurn } from "./turn.ts";

export const sessionKey = ({ source, sourceId }: { source: string; sourceId: string }): string =>
  `${source}/${sourceId}`;

export const splitKey = (key: string) => ({
  source: key.slice(0, key.indexOf("/")),
  sourceId: key.slice(key.indexOf("/") + 1),
});

export type JobOutcome = Pick<SentJob, "status" | "error"> & {
  incomplete?: readonly { source: string; sourceId: string }[];
  keptSessions?: readonly KeptSession[];
};

const maxJobs = 100;
/** The record may have megabytes, so it is not written for each session. */
const minWriteIntervalMs = 2000;

/** It may be deleted at any time: the server then finds everything unchanged. */
export class SentRecord {
  readonly #path: string;
  #inputs: Map<string, ReadInput>;
  #sent: Map<string, SentState>;
  #jobs: SentJob[];
  #stamp: string | undefined;
  /** Inputs' stamps and sessions' hashes. Not stored, so that the next run tries again. */
  readonly #unsendable = new Map<string, string>();
  #writtenAt = 0;
  #isDirty = false;
  #writing: Promise<void> = Promise.resolve();
  #onWriteError: ((reason: string) => void) | undefined;

  private constructor(
    path: string,
    { inputs, sent, jobs, stamp }: StoredRecord,
    onWriteError?: (reason: string) => void,
  ) {
    this.#path = path;
    this.#onWriteError = onWriteError;
    this.#inputs = inputs;
    this.#sent = sent;
    this.#jobs = jobs;
    this.#stamp = stamp;
  }

  /** @param onWriteError called once; nothing depends on the record */
  static async open(
    host: Host,
    server: string,
    userId: string,
    onWriteError?: (reason: string) => void,
  ): Promise<SentRecord> {
    const name = createHash("sha256").update(`${server}\n${userId}`).digest("hex").slice(0, 24);
    return SentRecord.#read(join(stateFolder(host), `sent-${name}.json`), onWriteError);
  }

  static async #read(path: string, onWriteError?: (reason: string) => void): Promise<SentRecord> {
    return new SentRecord(path, await readStored(path), onWriteError);
  }

  /** Runs a function while no other process of this machine sends to the account, with the record reloaded. */
  async takeTurn<Result>(
    { signal, onWait = () => {} }: { signal: AbortSignal; onWait?: () => void },
    run: () => Promise<Result>,
  ): Promise<Result> {
    const lock = this.#path.replace(/\.json$/, ".sending");
    return takeTurn(lock, { signal, onWait }, async () => {
      const stamp = (await statInput(this.#path))?.stamp;
      if (stamp !== undefined && stamp !== this.#stamp) await this.#reload();
      return run();
    });
  }

  async #reload(): Promise<void> {
    const stored = await readStored(this.#path);
    ({ inputs: this.#inputs, sent: this.#sent, jobs: this.#jobs, stamp: this.#stamp } = stored);
  }

  static async #readAll(host: Host): Promise<[name: string, record: SentRecord][]> {
    const folder = stateFolder(host);
    const names = (await listFolder(folder)).map(({ name }) => name).filter((name) => /^sent-\w+\.json$/.test(name));
    return Promise.all(names.map(async (name) => [name, await SentRecord.#read(join(folder, name))] as const));
  }

  static async readKeptSessions(host: Host): Promise<KeptSession[]> {
    return (await SentRecord.#readAll(host)).flatMap(([, record]) => record.kept);
  }

  static async readSentSessions(host: Host): Promise<SessionLabels[]> {
    const sent = new Map<string, SessionLabels>();
    for (const [name, record] of await SentRecord.#readAll(host)) {
      for (const { labels = {} } of record.#inputs.values()) {
        for (const [key, label] of Object.entries(labels)) {
          if (record.#sent.has(key)) sent.set(`${name} ${key}`, label);
        }
      }
    }
    return [...sent.values()];
  }

  countUnchanged(input: AdapterInput): number | undefined {
    const read = this.#inputs.get(inputKey(input));
    if (read?.stamp !== input.stamp || read.version !== input.adapter.version) return undefined;
    const sessions = Object.entries(read.sessions);
    return sessions.every(([key, hash]) => this.isSent(key, hash)) ? sessions.length : undefined;
  }

  getVersion(key: string): number | undefined {
    const holding = [...this.#inputs.values()].filter(({ sessions }) => Object.hasOwn(sessions, key));
    return holding.length === 0 ? undefined : Math.max(...holding.map(({ version }) => version));
  }

  /** Tells whether no other existing input contains the session. */
  isOnlyIn(input: AdapterInput, key: string): boolean {
    const own = inputKey(input);
    const holding = [...this.#inputs].filter(([, { sessions }]) => Object.hasOwn(sessions, key)).map(([name]) => name);
    return holding.length > 0 && holding.every((name) => name === own || isGone(name.slice(name.indexOf(":") + 1)));
  }

  getLabels(input: AdapterInput): RecordedSession[] | undefined {
    const labels = this.#inputs.get(inputKey(input))?.labels;
    return labels && Object.values(labels);
  }

  /** The sessions that an input has, without those of left-out projects. */
  getSessions(input: AdapterInput): [key: string, RecordedSession][] {
    const { labels = {}, sessions = {} } = this.#inputs.get(inputKey(input)) ?? {};
    return Object.entries(labels).filter(([key]) => Object.hasOwn(sessions, key));
  }

  findSessionsLackingPictures(input: AdapterInput): [string, RecordedSession][] {
    return Object.entries(this.#inputs.get(inputKey(input))?.labels ?? {}).filter(([, one]) => one.lacksPictures);
  }

  getLeftOutLabels(input: AdapterInput): SessionLabels[] {
    const { labels = {}, sessions = {} } = this.#inputs.get(inputKey(input)) ?? {};
    return Object.entries(labels).flatMap(([key, label]) => (Object.hasOwn(sessions, key) ? [] : label));
  }

  /** A session that is being processed or can't be sent counts as sent. */
  isSent(key: string, hash: string): boolean {
    if (this.#sent.get(key)?.hash === hash || this.#unsendable.get(key) === hash) return true;
    return this.#jobs.some(({ sessions }) => sessions[key]?.hash === hash);
  }

  getState(key: string): SentState | undefined {
    return this.#jobs.findLast(({ sessions }) => sessions[key])?.sessions[key] ?? this.#sent.get(key);
  }

  /** @param reason differs each time, so that the idempotency keys differ */
  forget(key: string, reason: string): void {
    const kept = this.getKept(key);
    this.settle(key, { ...beginAgain(reason), ...(kept && { kept }) });
  }

  getKept(key: string): Kept | undefined {
    return this.#sent.get(key)?.kept;
  }

  get kept(): KeptSession[] {
    return [...this.#sent].flatMap(([key, { kept }]) => (kept ? [{ ...splitKey(key), ...kept }] : []));
  }

  findKeys(sourceId: string): string[] {
    return [...this.#sent.keys()].filter((key) => splitKey(key).sourceId === sourceId);
  }

  settle(key: string, state: SentState): void {
    this.#sent.set(key, state);
    this.#isDirty = true;
  }

  addUnsendableSession(key: string, hash: string): void {
    this.#unsendable.set(key, hash);
  }

  addUnsendableInput(input: AdapterInput): void {
    this.#unsendable.set(inputKey(input), input.stamp);
  }

  isUnsendable(input: AdapterInput): boolean {
    return this.#unsendable.get(inputKey(input)) === input.stamp;
  }

  get unsendable(): [string, string][] {
    return [...this.#unsendable];
  }

  addUnsendable(entries: readonly [string, string][]): void {
    for (const [key, value] of entries) this.#unsendable.set(key, value);
  }

  addInput(input: AdapterInput, { sessions, labels }: InputSessions): void {
    const { stamp, adapter } = input;
    this.#inputs.set(inputKey(input), { stamp, version: adapter.version, sessions, labels });
    this.#isDirty = true;
  }

  /** The server answers a known upload with the same job, even a failed one. */
  addJob(job: SentJob): void {
    const others = this.#jobs.filter(({ jobId }) => jobId !== job.jobId);
    this.#jobs = [...others, job].slice(-maxJobs);
    this.#isDirty = true;
  }

  /** @returns sessions that the server newly keeps as stored */
  updateJob(jobId: string, { status, error, incomplete = [], keptSessions = [] }: JobOutcome): KeptSession[] {
    const job = this.#jobs.find((one) => one.jobId === jobId);
    if (!job) return [];
    // A first part is usually shorter than what is stored, so only the last one counts.
    const kept = keptSessions.filter((one) => job.sessions[sessionKey(one)]?.hash);
    const news = kept.filter((one) => this.getKept(sessionKey(one))?.reason !== one.reason);
    job.status = status;
    if (error) job.error = error;
    const whole = new Set(incomplete.map(sessionKey));
    const why = new Map(kept.map(({ source, sourceId, ...one }) => [sessionKey({ source, sourceId }), one]));
    for (const [key, state] of status === "succeeded" ? Object.entries(job.sessions) : []) {
      if (whole.has(key)) continue;
      const reason = state.hash ? why.get(key) : this.getKept(key);
      this.settle(key, { ...state, ...(reason && { kept: reason }) });
    }
    for (const key of whole) this.forget(key, jobId);
    if (isFinished(status)) job.sessions = {};
    this.#isDirty = true;
    return news;
  }

  get hasSent(): boolean {
    return this.#sent.size > 0 || this.#jobs.length > 0;
  }

  get jobs(): readonly Readonly<SentJob>[] {
    return this.#jobs;
  }

  /** Writes changes, at most every two seconds unless `now`. */
  save(now = false): Promise<void> {
    if (!this.#isDirty || (!now && performance.now() - this.#writtenAt < minWriteIntervalMs)) return this.#writing;
    this.#isDirty = false;
    this.#writtenAt = performance.now();
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  async #write(): Promise<void> {
    try {
      await writeFileAtomically(this.#path, this.#toJson());
      this.#stamp = (await statInput(this.#path))?.stamp;
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      this.#onWriteError?.(error.message);
      this.#onWriteError = undefined;
    }
  }

  #toJson(): string {
    const [read, sent] = [Object.fromEntries(this.#inputs), Object.fromEntries(this.#sent)];
    return JSON.stringify({ version: 1, read, sent, jobs: this.#jobs });
  }
}
