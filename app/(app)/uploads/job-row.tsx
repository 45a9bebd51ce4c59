import type { ListedJob } from "#lib/ingest/jobs";
import { formatBytes } from "#lib/transcript/text";
import { StatusMark } from "../../components/sign";
import { formatCount, formatQuantity } from "../../components/values/figures";
import { Time } from "../../components/values/time";
import { Fault, WhyKept } from "./outcome";
import { ReplayButton } from "./replay";

export function JobRow({ job }: { job: ListedJob }) {
  const labelId = `upload-${job.jobId}`;
  return (
    <li
      id={job.jobId}
      className="grid gap-x-4 gap-y-1 border-hairline border-b py-2.5 sm:grid-cols-[6rem_minmax(0,1fr)_auto]"
    >
      <p className="self-start">
        <StatusMark status={job.status} />
      </p>
      <div className="flex min-w-0 flex-col gap-1">
        <p id={labelId} className="flex flex-wrap gap-x-3">
          <span className="min-w-0 [overflow-wrap:anywhere]">{job.machine}</span>
          <span className="text-muted" title={formatQuantity(job.bytes, "byte")}>
            {formatBytes(job.bytes)}
          </span>
        </p>
        <Outcome job={job} />
        <Fault job={job} />
      </div>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1 self-start text-code text-muted sm:justify-end">
        {job.status === "failed" && job.isUploadStored && (
          <span className="sm:-my-1.5">
            <ReplayButton jobId={job.jobId} describedBy={labelId} />
          </span>
        )}
        <Attempts job={job} />
        <Time at={job.createdAt} as="moment" />
        <a href={`/uploads/${job.jobId}`} aria-describedby={labelId} className="link target">
          Details
        </a>
      </div>
    </li>
  );
}

function Attempts({ job: { status, attempts } }: { job: ListedJob }) {
  if (status === "running") return <span>attempt {formatCount(attempts)}</span>;
  return attempts > 1 && <span>{formatQuantity(attempts, "attempt")}</span>;
}

function Outcome({ job }: { job: ListedJob }) {
  const { status, traces, messages } = job;
  const received = formatQuantity(traces.received, "session");
  if (status !== "succeeded") return <p className="text-code text-muted">{received} received</p>;
  const parts = (["created", "updated", "unchanged", "kept", "incomplete"] as const)
    .filter((kind) => traces[kind] > 0)
    .map((kind) => `${formatCount(traces[kind])} ${kind}`);
  return (
    <>
      <p className="text-code">
        {received} received
        {parts.length > 0 && `: ${parts.join(", ")}`}
        <span className="text-muted"> · {formatQuantity(messages.written, "message")} written</span>
      </p>
      <WhyKept job={job} />
    </>
  );
}
