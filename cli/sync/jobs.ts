import { type Fields, isFields, toList, toText } from "../files/json.ts";
import { type Api, clock } from "../server/api.ts";
import type { Kept } from "../sessions/session.ts";

export type IngestJob = {
  status: string;
  created: number;
  updated: number;
  unchanged: number;
  kept: number;
  written: number;
  error: string;
  incomplete: Incomplete[];
  keptSessions: KeptSession[];
  /** False for a server that takes an append for the whole session. */
  knowsAppend: boolean;
};

export type Incomplete = { source: string; sourceId: string; messageCount: number };

export type KeptSession = { source: string; sourceId: string } & Kept;

/** The server no longer knows a job that is `gone`. */
export const isFinished = (status: string): boolean => ["succeeded", "failed", "gone"].includes(status);

export async function waitForJob(api: Api, jobId: string, patienceSeconds: number): Promise<IngestJob> {
  const deadline = clock.now() + patienceSeconds * 1000;
  for (let milliseconds = 50; ; milliseconds = Math.min(2000, milliseconds * 1.5)) {
    const job = await readJob(api, jobId);
    if (isFinished(job.status) || clock.now() > deadline) return job;
    await clock.sleep(milliseconds);
  }
}

async function readJob(api: Api, jobId: string): Promise<IngestJob> {
  const { body } = await api.request(`/api/ingest/${encodeURIComponent(jobId)}`);
  const [traces, messages, error] = [body.traces, body.messages, body.error].map((value) =>
    isFields(value) ? value : {},
  );
  return {
    status: toText(body.status),
    created: toCount(traces?.created),
    updated: toCount(traces?.updated),
    unchanged: toCount(traces?.unchanged),
    kept: toCount(traces?.kept),
    written: toCount(messages?.written),
    error: toText(error?.message),
    incomplete: toList(body.incomplete).filter(isFields).map(parseSession),
    keptSessions: toList(body.kept)
      .filter(isFields)
      .map((one) => ({ ...parseSession(one), reason: toText(one.reason) })),
    knowsAppend: traces?.incomplete !== undefined,
  };
}

const parseSession = ({ source, sourceId, messageCount }: Fields): Incomplete => ({
  source: toText(source),
  sourceId: toText(sourceId),
  messageCount: toCount(messageCount),
});

const toCount = (value: unknown): number => (typeof value === "number" ? value : 0);
