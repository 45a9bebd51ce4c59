import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { z } from "zod";
import { requireUser } from "#lib/auth/guards";
import { env } from "#lib/core/env";
import { limits } from "#lib/core/limits";
import { getListedJob, type ListedJob, listWrittenSessions } from "#lib/ingest/jobs";
import { hasQuota } from "#lib/ingest/quota/quota";
import { formatBytes } from "#lib/transcript/text";
import { orMissing } from "../../../components/missing";
import { Section } from "../../../components/section";
import { Sign, StatusMark } from "../../../components/sign";
import { formatCount, formatQuantity } from "../../../components/values/figures";
import { Time } from "../../../components/values/time";
import { replayAction } from "../actions";
import { Moving } from "../moving";
import { Fault, KeptSessions, WhyKept } from "../outcome";
import { ReplayButton, ReplayForm } from "../replay";

export const metadata: Metadata = { title: "Upload" };

export default async function Page({ params }: PageProps<"/uploads/[jobId]">) {
  const { jobId } = await params;
  const href = `/uploads/${encodeURIComponent(jobId)}`;
  const user = await requireUser(href);
  const job = await ownJob(user.id, jobId);
  return (
    <div className="flex max-w-[60rem] flex-col gap-6">
      <header className="flex flex-col gap-3">
        <p>
          <a href="/uploads" className="quiet-link target inline-flex items-center gap-1 text-code text-muted">
            <Sign name="left" />
            All uploads
          </a>
        </p>
        <h1 className="font-semibold text-title [overflow-wrap:anywhere]">Upload from {job.machine}</h1>
        <p className="flex flex-wrap items-baseline gap-x-3">
          <StatusMark status={job.status} />
          <span className="text-code text-muted">
            <span title={formatQuantity(job.bytes, "byte")}>{formatBytes(job.bytes)}</span>
            {" · sent "}
            <Time at={job.createdAt} as="moment" />
          </span>
        </p>
        <Fault job={job} />
        <ReplayForm action={replayAction} />
        {job.status === "failed" && job.isUploadStored && <ReplayButton jobId={job.jobId} />}
      </header>
      {(job.status === "queued" || job.status === "running") && <Moving href={href} />}
      <Section id="sessions" title="Sessions">
        <Facts facts={listJobCounts(job)} />
        <WhyKept job={job} />
        <KeptSessions kept={job.keptTraces} />
        <WrittenSessions userId={user.id} jobId={job.jobId} />
      </Section>
      <Section id="progress" title="Progress">
        <Facts
          facts={[
            ["Sent", <Time key="sent" at={job.createdAt} as="long" />],
            ["First attempt", job.startedAt && <Time key="started" at={job.startedAt} as="long" />],
            ["Ended", job.finishedAt && <Time key="ended" at={job.finishedAt} as="long" />],
            ["Attempts", formatCount(job.attempts)],
            [
              "Id",
              <span key="id" className="break-all font-mono">
                {job.jobId}
              </span>,
            ],
          ]}
        />
        <p className="text-code">
          <a href={`/api/ingest/${job.jobId}`} className="link">
            Job as JSON
          </a>
        </p>
      </Section>
      <Section id="raw" title="Raw upload">
        <RawUpload job={job} />
      </Section>
    </div>
  );
}

const maxSessions = 50;

async function WrittenSessions({ userId, jobId }: { userId: string; jobId: string }) {
  const sessions = await listWrittenSessions(userId, jobId, maxSessions + 1);
  if (sessions.length === 0) return null;
  return (
    <>
      <ul aria-label="Created and updated sessions" className="flex flex-col gap-1 pt-1">
        {sessions.slice(0, maxSessions).map(({ id, title }) => (
          <li key={id} className="min-w-0 [overflow-wrap:anywhere]">
            <a href={`/traces/${id}`} className="quiet-link">
              {title}
            </a>
          </li>
        ))}
      </ul>
      {sessions.length > maxSessions && (
        <p className="text-code text-muted">The first {maxSessions} that were created or updated.</p>
      )}
    </>
  );
}

function listJobCounts({ status, traces, messages }: ListedJob): [name: string, value: string | null][] {
  const outcome = (count: number) => (status === "succeeded" && count > 0 ? formatCount(count) : null);
  return [
    ["Received", formatCount(traces.received)],
    ["Created", outcome(traces.created)],
    ["Updated", outcome(traces.updated)],
    ["Unchanged", outcome(traces.unchanged)],
    ["Kept", outcome(traces.kept)],
    ["Incomplete", outcome(traces.incomplete)],
    ["Messages received", formatCount(messages.received)],
    ["Messages written", status === "succeeded" ? formatCount(messages.written) : null],
  ];
}

function Facts({ facts }: { facts: [name: string, value: React.ReactNode][] }) {
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-6 gap-y-1 text-code">
      {facts.map(
        ([name, value]) =>
          value !== null && (
            <div key={name} className="col-span-2 grid grid-cols-subgrid">
              <dt className="text-muted">{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

function RawUpload({ job }: { job: ListedJob }) {
  const days = formatQuantity(env().UPLOAD_RETENTION_DAYS, "day");
  if (!job.isUploadStored) return <p className="text-code text-muted">{whyRemoved(job, days)}</p>;
  return (
    <>
      <p>
        <a href={`/api/ingest/${job.jobId}/raw`} download className="link">
          Download
        </a>{" "}
        <span className="text-code text-muted">
          the JSON that was sent, <span title={formatQuantity(job.bytes, "byte")}>{formatBytes(job.bytes)}</span>
        </span>
      </p>
      <p className="text-code text-muted">
        <StoredUntil job={job} days={days} />
      </p>
    </>
  );
}

function whyRemoved({ status }: ListedJob, days: string): string {
  if (status === "failed") return `No longer stored: it was removed ${failedDays} after it failed.`;
  const earlier = hasQuota() ? ", or earlier to free space in your quota" : "";
  return `No longer stored: it was removed ${days} after it was processed${earlier}.`;
}

const failedDays = formatQuantity(limits.ingest.failedUploadDays, "day");
const dayMs = 86_400_000;

function StoredUntil({ job: { status, finishedAt }, days }: { job: ListedJob; days: string }) {
  if (!finishedAt) return `Stored until it is processed, and for ${days} after that.`;
  const isFailed = status === "failed";
  const keptDays = isFailed ? limits.ingest.failedUploadDays : env().UPLOAD_RETENTION_DAYS;
  const until = new Date(new Date(finishedAt).getTime() + keptDays * dayMs);
  return (
    <>
      Stored until <Time at={until.toISOString()} as="moment" />
      {isFailed && `, or for ${days} after a replay succeeds`}.
    </>
  );
}

async function ownJob(userId: string, jobId: string) {
  if (!z.uuid().safeParse(jobId).success) notFound();
  return orMissing(getListedJob(userId, jobId));
}
