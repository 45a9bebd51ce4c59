import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Host } from "../adapters/adapter.ts";
import { CommandError } from "../errors.ts";
import { isFields } from "../files/json-lines.ts";
import { readJsonFile, stateFolder, writeFileAtomically } from "../files/state-files.ts";

/** A session's name among all that one account sends. */
export const sessionKey = ({ source, sourceId }: { source: string; sourceId: string }): string =>
  `${source}/${sourceId}`;

/** What an input held when it was read: which sessions, by their hashes. */
type Read = { stamp: string; version: number; sessions: Record<string, string> };

/** An upload that the server has, by the id of its job. */
export type SentJob = {
  jobId: string;
  /** ISO 8601 */
  at: string;
  bytes: number;
  /** The hashes of its sessions by their keys, until the job has ended well. */
  sessions: Record<string, string>;
  status: string;
  error?: string;
};

/** Whether a job with this status will not change any more; `gone` is one that the server has forgotten. */
export const isFinished = (status: string): boolean => ["succeeded", "failed", "gone"].includes(status);

const maxJobs = 100;
/** A record of many sessions has megabytes: it is not written for each of them. */
const writeEveryMs = 2000;

/**
 * What one account at one server was sent, so that nothing is sent twice. It may be deleted at any time: everything is read
 * and sent once more then, and the server finds it unchanged.
 */
export class SentRecord {
  readonly #path: string;
  readonly #read: Map<string, Read>;
  readonly #sent: Map<string, string>;
  readonly #jobs: SentJob[];
  /** What this run could not send, by the names of inputs and the keys of sessions: the next run tries and names it again. */
  readonly #left = new Map<string, string>();
  #writtenAt = 0;
  #isDirty = false;
  #writing: Promise<void> = Promise.resolve();
  #unwritten: ((reason: string) => void) | undefined;

  private constructor(
    path: string,
    known: { read: Map<string, Read>; sent: Map<string, string>; jobs: SentJob[] },
    unwritten?: (reason: string) => void,
  ) {
    this.#path = path;
    this.#unwritten = unwritten;
    this.#read = known.read;
    this.#sent = known.sent;
    this.#jobs = known.jobs;
  }

  /**
   * The record of an account; an empty one where there is none yet, or none that can be read.
   *
   * @param unwritten is told, once, why it can't be written: nothing depends on that
   */
  static async open(
    host: Host,
    server: string,
    userId: string,
    unwritten?: (reason: string) => void,
  ): Promise<SentRecord> {
    const name = createHash("sha256").update(`${server}\n${userId}`).digest("hex").slice(0, 24);
    const path = join(stateFolder(host), `sent-${name}.json`);
    const found = await readJsonFile(path);
    const known = isFields(found) && found.version === 1 ? found : {};
    const listFolder = (value: unknown) => (isFields(value) ? Object.entries(value) : []);
    const records = {
      read: new Map(listFolder(known.read) as [string, Read][]),
      sent: new Map(listFolder(known.sent) as [string, string][]),
      jobs: Array.isArray(known.jobs) ? (known.jobs as SentJob[]) : [],
    };
    return new SentRecord(path, records, unwritten);
  }

  /** The sessions of an input that need not be read again: all that it holds was sent. Undefined where it must be. */
  unchanged(name: string, stamp: string, version: number): string[] | undefined {
    const read = this.#read.get(name);
    if (read?.stamp !== stamp || read.version !== version) return undefined;
    const sessions = Object.entries(read.sessions);
    return sessions.every(([key, hash]) => this.isDone(key, hash)) ? sessions.map(([key]) => key) : undefined;
  }

  /** Whether a session need not be sent: it was, or it is in an upload that the server still works on, or it can't be. */
  isDone(key: string, hash: string): boolean {
    if (this.#sent.get(key) === hash || this.#left.get(key) === hash) return true;
    return this.#jobs.some(({ sessions }) => sessions[key] === hash);
  }

  noteLeft(key: string, hash: string): void {
    this.#left.set(key, hash);
  }

  /** Whether this run has found that not all of an input can be sent. */
  isLeft(name: string, stamp: string): boolean {
    return this.#left.get(name) === stamp;
  }

  noteRead(name: string, stamp: string, version: number, sessions: Record<string, string>): void {
    this.#read.set(name, { stamp, version, sessions });
    this.#isDirty = true;
  }

  /** The hash of what was sent last under a key. */
  hashOf(key: string): string | undefined {
    return this.#sent.get(key);
  }

  noteJob(job: SentJob): void {
    this.#jobs.push(job);
    this.#jobs.splice(0, this.#jobs.length - maxJobs);
    this.#isDirty = true;
  }

  /** What became of a job; the sessions of one that ended well need not be sent again. */
  settle(jobId: string, status: string, error?: string): void {
    const job = this.#jobs.find((one) => one.jobId === jobId);
    if (!job) return;
    job.status = status;
    if (error !== undefined) job.error = error;
    if (status === "succeeded") for (const [key, hash] of Object.entries(job.sessions)) this.#sent.set(key, hash);
    if (isFinished(status)) job.sessions = {};
    this.#isDirty = true;
  }

  /** The uploads of the last runs, oldest first. */
  get jobs(): readonly Readonly<SentJob>[] {
    return this.#jobs;
  }

  /** Writes what is new, at most every two seconds unless `now`. */
  save(now = false): Promise<void> {
    if (!this.#isDirty || (!now && performance.now() - this.#writtenAt < writeEveryMs)) return this.#writing;
    this.#isDirty = false;
    this.#writtenAt = performance.now();
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  async #write(): Promise<void> {
    try {
      await writeFileAtomically(this.#path, this.#toJson());
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      this.#unwritten?.(error.message);
      this.#unwritten = undefined;
    }
  }

  #toJson(): string {
    const [read, sent] = [Object.fromEntries(this.#read), Object.fromEntries(this.#sent)];
    return JSON.stringify({ version: 1, read, sent, jobs: this.#jobs });
  }
}
