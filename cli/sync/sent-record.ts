import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Host } from "../adapters/adapter.ts";
import { CommandError } from "../errors.ts";
import { listFolder, statInput } from "../files/discovery.ts";
import { isFields } from "../files/json.ts";
import { readJsonFile, stateFolder, writeFileAtomically } from "../files/state-files.ts";
import { type AdapterInput, inputKey } from "../sessions/inputs.ts";
import { begunAgain, type HeldSession, type SentState, type SessionLabels } from "../sessions/session.ts";
import { isFinished } from "./jobs.ts";
import { inTurn } from "./turn.ts";

/** A session's key among all that one account sends. */
export const sessionKey = ({ source, sourceId }: { source: string; sourceId: string }): string =>
  `${source}/${sourceId}`;

/** The hashes and labels of an input's sessions, by their keys. */
export type InputSessions = { sessions: Record<string, string>; labels: Record<string, HeldSession> };

/** What an input held when it was read. Records of older clients have no labels. */
type ReadInput = { stamp: string; version: number } & Omit<InputSessions, "labels"> & Partial<InputSessions>;

/** An upload that the server has accepted, by the id of its job. */
export type SentJob = {
  jobId: string;
  /** ISO 8601 */
  at: string;
  bytes: number;
  /** What it sends of its sessions by their keys, until the job has finished. */
  sessions: Record<string, SentState>;
  status: string;
  error?: string;
};

/** What became of a job, and the sessions that the server wants whole. */
export type JobOutcome = Pick<SentJob, "status" | "error"> & {
  incomplete?: readonly { source: string; sourceId: string }[];
};

const maxJobs = 100;
/** With many sessions the record has megabytes, so it is not written for each of them. */
const minWriteIntervalMs = 2000;

/** The state of a session in the record of an older client, which has its hash alone. */
const stateOf = (stored: SentState | string): SentState =>
  typeof stored === "string" ? { hash: stored, counts: [], digest: "" } : stored;

const entriesOf = (value: unknown) => (isFields(value) ? Object.entries(value) : []);
const statesIn = (value: unknown) =>
  (entriesOf(value) as [string, SentState | string][]).map(([key, state]): [string, SentState] => [
    key,
    stateOf(state),
  ]);
const withStates = (job: SentJob): SentJob => ({ ...job, sessions: Object.fromEntries(statesIn(job.sessions)) });
/** Records of older clients have several of one id, of which all but the first stayed queued. */
const jobsIn = (value: unknown): SentJob[] =>
  Array.isArray(value) ? [...new Map((value as SentJob[]).map((job) => [job.jobId, withStates(job)])).values()] : [];

type Stored = {
  inputs: Map<string, ReadInput>;
  sent: Map<string, SentState>;
  jobs: SentJob[];
  stamp: string | undefined;
};

/** Reads a record; it is empty where there is none. */
async function readStored(path: string): Promise<Stored> {
  const stamp = (await statInput(path))?.stamp; // before it is read: a later version is then read again
  const found = await readJsonFile(path);
  const known = isFields(found) && found.version === 1 ? found : {};
  return {
    inputs: new Map(entriesOf(known.read) as [string, ReadInput][]),
    sent: new Map(statesIn(known.sent)),
    jobs: jobsIn(known.jobs),
    stamp,
  };
}

/**
 * What was sent to one account at one server, so that nothing is sent twice. It may be deleted at any time: everything is
 * then sent again, and the server finds it unchanged.
 */
export class SentRecord {
  readonly #path: string;
  #inputs: Map<string, ReadInput>;
  #sent: Map<string, SentState>;
  #jobs: SentJob[];
  /** Of the file's version that is known. */
  #stamp: string | undefined;
  /** What this run could not send: inputs' stamps and sessions' hashes. Not stored, so the next run tries again. */
  readonly #unsendable = new Map<string, string>();
  #writtenAt = 0;
  #isDirty = false;
  #writing: Promise<void> = Promise.resolve();
  #onWriteError: ((reason: string) => void) | undefined;

  private constructor(path: string, { inputs, sent, jobs, stamp }: Stored, onWriteError?: (reason: string) => void) {
    this.#path = path;
    this.#onWriteError = onWriteError;
    this.#inputs = inputs;
    this.#sent = sent;
    this.#jobs = jobs;
    this.#stamp = stamp;
  }

  /**
   * Opens an account's record; an empty one where there is none, or it can't be read.
   *
   * @param onWriteError called once where it can't be written; nothing depends on that
   */
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

  /**
   * Runs something while no other process of this machine sends to the account, with what the others have recorded until then.
   *
   * @param onWait called where it has to wait for another one
   */
  async inTurn<Result>(
    { signal, onWait = () => {} }: { signal: AbortSignal; onWait?: () => void },
    run: () => Promise<Result>,
  ): Promise<Result> {
    const lock = this.#path.replace(/\.json$/, ".sending");
    return inTurn(lock, { signal, onWait }, async () => {
      const stamp = (await statInput(this.#path))?.stamp;
      // One that was deleted is written again.
      if (stamp !== undefined && stamp !== this.#stamp) await this.#reload();
      return run();
    });
  }

  async #reload(): Promise<void> {
    const stored = await readStored(this.#path);
    ({ inputs: this.#inputs, sent: this.#sent, jobs: this.#jobs, stamp: this.#stamp } = stored);
  }

  /** The sessions that were sent to any account, as far as it was recorded in which project they were. */
  static async sentSessions(host: Host): Promise<SessionLabels[]> {
    const folder = stateFolder(host);
    const names = (await listFolder(folder)).map(({ name }) => name).filter((name) => /^sent-\w+\.json$/.test(name));
    const sent = new Map<string, SessionLabels>();
    for (const name of names) {
      const record = await SentRecord.#read(join(folder, name));
      for (const { labels = {} } of record.#inputs.values()) {
        for (const [key, label] of Object.entries(labels)) {
          if (record.#sent.has(key)) sent.set(`${name} ${key}`, label);
        }
      }
    }
    return [...sent.values()];
  }

  /** The number of sessions of an input that has not changed since all of them were sent; undefined where it must be read. */
  countUnchanged(input: AdapterInput): number | undefined {
    const read = this.#inputs.get(inputKey(input));
    if (read?.stamp !== input.stamp || read.version !== input.adapter.version) return undefined;
    const sessions = Object.entries(read.sessions);
    return sessions.every(([key, hash]) => this.isSent(key, hash)) ? sessions.length : undefined;
  }

  /** Whether a session was in one input, and in no other one, when they were read last. */
  isOnlyIn(input: AdapterInput, key: string): boolean {
    const holding = [...this.#inputs].filter(([, { sessions }]) => Object.hasOwn(sessions, key));
    return holding.length === 1 && holding[0]?.[0] === inputKey(input);
  }

  /** The labels of an input's sessions when it was read last; undefined where they are not known. */
  labelsOf(input: AdapterInput): HeldSession[] | undefined {
    const labels = this.#inputs.get(inputKey(input))?.labels;
    return labels && Object.values(labels);
  }

  /** The sessions, by their keys, whose pictures were not sent when an input was read last. */
  sessionsLackingPictures(input: AdapterInput): [string, HeldSession][] {
    return Object.entries(this.#inputs.get(inputKey(input))?.labels ?? {}).filter(([, one]) => one.lacksPictures);
  }

  /** The labels of sessions that were not kept of an input, since their projects were left out. */
  labelsLeftOut(input: AdapterInput): SessionLabels[] {
    const { labels = {}, sessions = {} } = this.#inputs.get(inputKey(input)) ?? {};
    return Object.entries(labels).flatMap(([key, label]) => (Object.hasOwn(sessions, key) ? [] : label));
  }

  /** Whether a session need not be sent: it was, or its upload is being processed, or it can't be sent. */
  isSent(key: string, hash: string): boolean {
    if (this.#sent.get(key)?.hash === hash || this.#unsendable.get(key) === hash) return true;
    return this.#jobs.some(({ sessions }) => sessions[key]?.hash === hash);
  }

  /** What was sent of a session, or is being processed. */
  stateOf(key: string): SentState | undefined {
    return this.#jobs.findLast(({ sessions }) => sessions[key])?.sessions[key] ?? this.#sent.get(key);
  }

  /** Forgets what was sent of a session, so that it is sent whole. @param reason differs each time, and with it the uploads */
  forget(key: string, reason: string): void {
    this.settle(key, begunAgain(reason));
  }

  /** Notes what was sent of a session. */
  settle(key: string, state: SentState): void {
    this.#sent.set(key, state);
    this.#isDirty = true;
  }

  addUnsendableSession(key: string, hash: string): void {
    this.#unsendable.set(key, hash);
  }

  /** Notes that not all of an input can be sent: this run does not read it again until it changes. */
  addUnsendableInput(input: AdapterInput): void {
    this.#unsendable.set(inputKey(input), input.stamp);
  }

  isUnsendable(input: AdapterInput): boolean {
    return this.#unsendable.get(inputKey(input)) === input.stamp;
  }

  /** What can't be sent, for the next process of this run. */
  get unsendable(): [string, string][] {
    return [...this.#unsendable];
  }

  /** Takes over what an earlier process of this run could not send. */
  addUnsendable(entries: readonly [string, string][]): void {
    for (const [key, value] of entries) this.#unsendable.set(key, value);
  }

  /** Notes the sessions that an input holds. */
  addInput(input: AdapterInput, { sessions, labels }: InputSessions): void {
    const { stamp, adapter } = input;
    this.#inputs.set(inputKey(input), { stamp, version: adapter.version, sessions, labels });
    this.#isDirty = true;
  }

  /** Notes an upload. The server answers one that it knows with the same job, also where that has failed: it is one, not two. */
  addJob(job: SentJob): void {
    const others = this.#jobs.filter(({ jobId }) => jobId !== job.jobId);
    this.#jobs = [...others, job].slice(-maxJobs);
    this.#isDirty = true;
  }

  /** Updates a job. The sessions of one that succeeded count as sent, but for those that the server wants whole. */
  updateJob(jobId: string, { status, error, incomplete = [] }: JobOutcome): void {
    const job = this.#jobs.find((one) => one.jobId === jobId);
    if (!job) return;
    job.status = status;
    if (error) job.error = error;
    if (status === "succeeded") for (const [key, state] of Object.entries(job.sessions)) this.settle(key, state);
    for (const one of incomplete) this.forget(sessionKey(one), jobId);
    if (isFinished(status)) job.sessions = {};
    this.#isDirty = true;
  }

  /** Whether anything was ever sent. */
  get hasSent(): boolean {
    return this.#sent.size > 0 || this.#jobs.length > 0;
  }

  /** The last uploads, oldest first. */
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
