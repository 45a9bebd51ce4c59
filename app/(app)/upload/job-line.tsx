"use client";
import { useEffect, useState } from "react";
import type { z } from "zod";
import type { jobResponse } from "#lib/ingest/schema";
import { StatusMark } from "../../components/sign";
import { formatCount, formatQuantity } from "../../components/values/figures";

type Job = z.output<typeof jobResponse>;

const pollMs = 1000;
/** An older job belongs to an earlier upload of the same content. */
const earlierMs = 120_000;

export function JobLine({ jobId, label }: { jobId: string; label: string | undefined }) {
  const { job, isEarlier } = useJob(jobId);
  return (
    <li className="flex flex-wrap items-center gap-x-3 text-code">
      {label && <span className="text-muted">{label}</span>}
      <StatusMark status={job?.status ?? "queued"} isLive />
      {job && <span className="min-w-0 [overflow-wrap:anywhere]">{describeOutcome(job)}</span>}
      {isEarlier && <span className="text-muted">The same content was uploaded before.</span>}
      <a href={`/uploads/${jobId}`} className="link target">
        Details
      </a>
      {job?.status === "succeeded" && (
        <a href="/traces" className="link">
          Sessions
        </a>
      )}
    </li>
  );
}

function describeOutcome({ status, traces, error }: Job): string {
  if (status === "failed") return error?.message ?? "";
  if (status !== "succeeded") return formatQuantity(traces.received, "session");
  const parts = (["created", "updated", "unchanged", "kept", "incomplete"] as const)
    .filter((kind) => traces[kind] > 0)
    .map((kind) => `${formatCount(traces[kind])} ${kind}`);
  return [formatQuantity(traces.received, "session"), parts.join(", ")].filter(Boolean).join(": ");
}

function useJob(jobId: string): { job: Job | undefined; isEarlier: boolean } {
  const [job, setJob] = useState<Job>();
  const [isEarlier, setEarlier] = useState(false);
  useEffect(() => {
    const askedAt = Date.now();
    let timer: ReturnType<typeof setTimeout>;
    let isOver = false;
    const poll = async () => {
      // The next poll repeats a failed request.
      const response = await fetch(`/api/ingest/${jobId}`).catch(() => undefined);
      const found = response?.ok ? ((await response.json()) as Job) : undefined;
      if (isOver) return;
      if (found) {
        setJob(found);
        setEarlier(askedAt - Date.parse(found.createdAt) > earlierMs);
      }
      if (found?.status !== "succeeded" && found?.status !== "failed") timer = setTimeout(poll, pollMs);
    };
    poll();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [jobId]);
  return { job, isEarlier };
}
