import type { Job } from "#lib/ingest/jobs";
import { countOf, formatBytes, formatCount } from "../../components/figures";
import { Sign } from "../../components/sign";
import { Time } from "../../components/time";

const marks = {
  queued: { sign: "ring", word: "waiting", ink: "text-muted" },
  running: { sign: "dot", word: "running", ink: "text-accent" },
  succeeded: { sign: "check", word: "done", ink: "text-ok" },
  failed: { sign: "cross", word: "failed", ink: "text-bad" },
} as const;

/** What became of one upload. */
export function JobRow({ job }: { job: Job & { machine: string } }) {
  const { sign, word, ink } = marks[job.status];
  return (
    <li id={job.jobId} className="grid gap-x-4 gap-y-1 border-hairline border-b py-2.5 sm:grid-cols-[6rem_1fr_auto]">
      <p className={`flex items-center gap-2 self-start font-medium ${ink}`}>
        <Sign name={sign} /> {word}
      </p>
      <div className="flex min-w-0 flex-col gap-1">
        <p className="flex flex-wrap gap-x-3">
          <span className="break-words">{job.machine}</span>
          <span className="text-muted" title={countOf(job.bytes, "byte")}>
            {formatBytes(job.bytes)}
          </span>
        </p>
        <Outcome job={job} />
        {job.error && <Fault error={job.error} again={job.status === "queued"} />}
      </div>
      <p className="flex gap-x-3 text-code text-muted sm:justify-end">
        {job.attempts > 1 && <span>try {formatCount(job.attempts)}</span>}
        <Time at={job.createdAt} />
      </p>
    </li>
  );
}

function Outcome({ job: { status, traces, messages } }: { job: Job }) {
  const received = countOf(traces.received, "session");
  if (status !== "succeeded") return <p className="text-code text-muted">{received} received</p>;
  const parts = [
    traces.created > 0 && `${formatCount(traces.created)} created`,
    traces.updated > 0 && `${formatCount(traces.updated)} updated`,
    traces.unchanged > 0 && `${formatCount(traces.unchanged)} unchanged`,
    traces.kept > 0 && `${formatCount(traces.kept)} kept`,
  ].filter(Boolean);
  return (
    <>
      <p className="text-code">
        {received}
        {parts.length > 0 && `: ${parts.join(", ")}`}
        <span className="text-muted"> · {countOf(messages.written, "message")} written</span>
      </p>
      {traces.kept > 0 && (
        <p className="text-code text-muted">
          Kept as stored: the upload was shorter or older than what is stored, or you deleted the session.
        </p>
      )}
    </>
  );
}

const reasons: Record<string, string> = {
  invalid_json: "The upload is not valid JSON.",
  invalid_request: "The upload does not have the form that this server takes.",
  payload_too_large: "The upload is larger than this server takes.",
};

function Fault({ error: { code, message }, again }: { error: NonNullable<Job["error"]>; again: boolean }) {
  return (
    <p className="text-bad text-code [overflow-wrap:anywhere]">
      {reasons[code] ?? "Something went wrong while it was processed."} {message}
      {again ? " It is tried again by itself." : " The upload is kept; nothing of it was stored."}
    </p>
  );
}
