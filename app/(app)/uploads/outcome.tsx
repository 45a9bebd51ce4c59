import type { ListedJob } from "#lib/ingest/jobs";
import { countOf } from "../../components/figures";

/** Why sessions of an upload were left as stored. */
export function WhyKept({ job: { traces, kept } }: { job: ListedJob }) {
  const reasons = [
    ...(kept ? reasonsOf(kept) : []),
    !kept && traces.kept > 0 && unknownReason,
    traces.incomplete > 0 && `${countOf(traces.incomplete, "session")} ${incompleteReason}`,
  ].filter((reason) => reason !== false);
  if (reasons.length === 0) return null;
  return <p className="text-code text-muted">{reasons.join(" ")}</p>;
}

const incompleteReason =
  "incomplete and left as stored: the upload had only what came after messages that are not stored. Clients send it whole.";

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
