import { setTimeout as sleep } from "node:timers/promises";
import type { Api } from "../server/api.ts";

export type Job = {
  status: string;
  created: number;
  updated: number;
  unchanged: number;
  kept: number;
  written: number;
  error: string;
};

/** Whether a job's status is final; `gone` is that of a job which the server no longer knows. */
export const isFinished = (status: string): boolean => ["succeeded", "failed", "gone"].includes(status);

/** Polls a job until it has finished or `patienceSeconds` are over. @throws as `Api.request` */
export async function waitForJob(api: Api, jobId: string, patienceSeconds: number): Promise<Job> {
  const deadline = performance.now() + patienceSeconds * 1000;
  for (let milliseconds = 50; ; milliseconds = Math.min(2000, milliseconds * 1.5)) {
    const job = await readJob(api, jobId);
    if (isFinished(job.status) || performance.now() > deadline) return job;
    await sleep(milliseconds);
  }
}

/** Reads `GET /api/ingest/{jobId}`. */
async function readJob(api: Api, jobId: string): Promise<Job> {
  const { body } = await api.request(`/api/ingest/${jobId}`);
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
