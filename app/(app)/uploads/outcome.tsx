import type { ListedJob } from "#lib/ingest/jobs";

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
