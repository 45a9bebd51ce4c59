import { clock } from "../clock.ts";
import { isFields, textOf } from "../files/json.ts";
import type { Api } from "../server/api.ts";

export type Job = {
  status: string;
  created: number;
  updated: number;
  unchanged: number;
  kept: number;
  written: number;
  error: string;
  /** The sessions that have to be sent whole, with the number of messages that the server has of each. */
  incomplete: Incomplete[];
  /** False for a server that takes an append for the whole session. */
  knowsAppend: boolean;
};

export type Incomplete = { source: string; sourceId: string; messageCount: number };

/** Whether a job's status is final; `gone` is that of a job which the server no longer knows. */
export const isFinished = (status: string): boolean => ["succeeded", "failed", "gone"].includes(status);

/** Polls a job until it has finished or `patienceSeconds` are over. @throws as `Api.request` */
export async function waitForJob(api: Api, jobId: string, patienceSeconds: number): Promise<Job> {
  const deadline = clock.now() + patienceSeconds * 1000;
  for (let milliseconds = 50; ; milliseconds = Math.min(2000, milliseconds * 1.5)) {
    const job = await readJob(api, jobId);
    if (isFinished(job.status) || clock.now() > deadline) return job;
    await clock.sleep(milliseconds);
  }
}

/** Reads `GET /api/ingest/{jobId}`. */
async function readJob(api: Api, jobId: string): Promise<Job> {
  const { body } = await api.request(`/api/ingest/${encodeURIComponent(jobId)}`);
  const [traces, messages, error] = [body.traces, body.messages, body.error].map((value) =>
    isFields(value) ? value : {},
  );
  return {
    status: textOf(body.status),
    created: countOf(traces?.created),
    updated: countOf(traces?.updated),
    unchanged: countOf(traces?.unchanged),
    kept: countOf(traces?.kept),
    written: countOf(messages?.written),
    error: textOf(error?.message),
    incomplete: (Array.isArray(body.incomplete) ? body.incomplete : []).filter(isFields).map((one) => ({
      source: textOf(one.source),
      sourceId: textOf(one.sourceId),
      messageCount: countOf(one.messageCount),
    })),
    knowsAppend: traces?.incomplete !== undefined,
  };
}

const countOf = (value: unknown): number => (typeof value === "number" ? value : 0);
