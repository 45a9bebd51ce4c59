import type { Job, ListedJob } from "#lib/ingest/jobs";
import { Sign } from "../../components/sign";

const marks = {
  queued: { sign: "ring", word: "waiting", ink: "text-muted" },
  running: { sign: "dot", word: "running", ink: "text-accent" },
  succeeded: { sign: "check", word: "done", ink: "text-ok" },
  failed: { sign: "cross", word: "failed", ink: "text-bad" },
} as const;

export function StatusMark({ status }: { status: Job["status"] }) {
  const { sign, word, ink } = marks[status];
  return (
    <span className={`inline-flex items-center gap-2 font-medium ${ink}`}>
      <Sign name={sign} /> {word}
    </span>
  );
}

/** Why traces of an upload were left as they are stored. */
export function WhyKept() {
  return (
    <p className="text-code text-muted">
      Kept as stored: the upload was shorter or older than what is stored, or you deleted the session.
    </p>
  );
}

/** Why a job failed, and what can be done. */
export function Fault({ job: { error, kept } }: { job: ListedJob }) {
  if (!error) return null;
  return (
    <p className="text-bad text-code [overflow-wrap:anywhere]">
      {error.message} Nothing of it became a session
      {kept ? "; you can replay it." : ", and the upload is no longer kept: send it again."}
    </p>
  );
}
