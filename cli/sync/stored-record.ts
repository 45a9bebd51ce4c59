import { statInput } from "../files/discovery.ts";
import { isFields } from "../files/json.ts";
import { readJsonFile } from "../files/state-files.ts";
import type { RecordedSession, SentState } from "../sessions/session.ts";

export type InputSessions = { sessions: Record<string, string>; labels: Record<string, RecordedSession> };

/** Records of older clients have no labels. */
export type ReadInput = { stamp: string; version: number } & Omit<InputSessions, "labels"> & Partial<InputSessions>;

export type SentJob = {
  jobId: string;
  at: string;
  bytes: number;
  sessions: Record<string, SentState>;
  status: string;
  error?: string;
};

const toState = (stored: SentState | string): SentState =>
  typeof stored === "string" ? { hash: stored, counts: [], digest: "" } : stored;

const listEntries = (value: unknown) => (isFields(value) ? Object.entries(value) : []);
const parseStates = (value: unknown) =>
  (listEntries(value) as [string, SentState | string][])
    .filter(([, state]) => isFields(state) || typeof state === "string")
    .map(([key, state]): [string, SentState] => [key, toState(state)]);
const withStates = (job: SentJob): SentJob => ({ ...job, sessions: Object.fromEntries(parseStates(job.sessions)) });
/** Older clients stored several jobs with one id, of which all but the first stayed queued. */
const parseJobs = (value: unknown): SentJob[] =>
  Array.isArray(value)
    ? [...new Map((value as SentJob[]).filter(isFields).map((job) => [job.jobId, withStates(job)])).values()]
    : [];

export type StoredRecord = {
  inputs: Map<string, ReadInput>;
  sent: Map<string, SentState>;
  jobs: SentJob[];
  stamp: string | undefined;
};

export async function readStored(path: string): Promise<StoredRecord> {
  const stamp = (await statInput(path))?.stamp; // read first, so that a later version is read again
  const found = await readJsonFile(path);
  const known = isFields(found) && found.version === 1 ? found : {};
  return {
    inputs: new Map(listEntries(known.read) as [string, ReadInput][]),
    sent: new Map(parseStates(known.sent)),
    jobs: parseJobs(known.jobs),
    stamp,
  };
}
