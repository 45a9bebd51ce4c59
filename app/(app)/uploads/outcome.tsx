import type { ListedJob } from "#lib/ingest/jobs";
import { countOf } from "../../components/figures";

/** Why sessions of an upload were left as stored. */
export function WhyKept({ job: { traces, kept } }: { job: ListedJob }) {
  if (traces.kept === 0) return null;
  return <p className="text-code text-muted">{kept ? reasonsOf(kept).join(" ") : unknownReason}</p>;
}

/** For an upload that was processed by a version that did not record the reason. */
const unknownReason =
  "Kept as stored: the upload was shorter or older than what is stored, or you had deleted the session.";

function reasonsOf({ shorter, newer, deleted }: NonNullable<ListedJob["kept"]>): string[] {
  const sentences = [
    shorter > 0 && `${countOf(shorter, "session")} kept as stored: the upload has fewer messages.`,
    newer > 0 && `${countOf(newer, "session")} kept as stored: a newer upload was processed first.`,
    deleted > 0 && `${countOf(deleted, "session")} not stored again: you had deleted ${deleted === 1 ? "it" : "them"}.`,
  ];
  return sentences.filter((sentence) => sentence !== false);
}

/** Why a job failed, and what can be done. */
export function Fault({ job: { error, isUploadStored } }: { job: ListedJob }) {
  if (!error) return null;
  return (
    <p className="text-bad text-code [overflow-wrap:anywhere]">
      {error.message} No session was created or updated.{" "}
      {isUploadStored ? "You can replay the upload." : "The upload is no longer stored: send it again."}
    </p>
  );
}
