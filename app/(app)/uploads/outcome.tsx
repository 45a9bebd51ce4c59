import type { KeptTrace, ListedJob } from "#lib/ingest/jobs";
import { formatQuantity } from "../../components/values/figures";

export function WhyKept({ job: { traces, kept } }: { job: ListedJob }) {
  const reasons = [
    ...(kept ? listKeptReasons(kept) : []),
    !kept && traces.kept > 0 && unknownReason,
    traces.incomplete > 0 && `${formatQuantity(traces.incomplete, "session")} ${incompleteReason}`,
  ].filter((reason) => reason !== false);
  if (reasons.length === 0) return null;
  return <p className="text-code text-muted">{reasons.join(" ")}</p>;
}

const incompleteReason =
  "incomplete and not updated: the upload had only messages after some that are not stored. Clients then send the whole session.";

/** Earlier versions did not record the reason. */
const unknownReason = "Not updated: the upload was shorter or older than the stored session, or you had deleted it.";

function listKeptReasons({ shorter, newer, deleted }: NonNullable<ListedJob["kept"]>): string[] {
  const sentences = [
    shorter > 0 &&
      `${formatQuantity(shorter, "session")} not updated: the upload has fewer messages than are stored. To replace ${shorter === 1 ? "it" : "them"}, run spoor push --replace with the session’s id.`,
    newer > 0 && `${formatQuantity(newer, "session")} not updated: a newer upload was processed first.`,
    deleted > 0 &&
      `${formatQuantity(deleted, "session")} not stored again: you had deleted ${deleted === 1 ? "it" : "them"}.`,
  ];
  return sentences.filter((sentence) => sentence !== false);
}

const words = { shorter: "has fewer messages", newer: "older than the stored session", deleted: "deleted here" };

export function KeptSessions({ kept }: { kept: KeptTrace[] }) {
  if (kept.length === 0) return null;
  return (
    <ul aria-label="Kept sessions" className="flex flex-col gap-1 pt-1 text-code">
      {kept.slice(0, maxKept).map(({ source, sourceId, reason, messageCount }) => (
        <li key={`${source} ${sourceId}`} className="min-w-0 [overflow-wrap:anywhere]">
          {source} <span className="font-mono">{sourceId}</span>{" "}
          <span className="text-muted">
            {words[reason]}
            {reason !== "deleted" && `, ${formatQuantity(messageCount, "message")} stored`}
          </span>
        </li>
      ))}
    </ul>
  );
}

const maxKept = 50;

export function Fault({ job: { error, isUploadStored } }: { job: ListedJob }) {
  if (!error) return null;
  return (
    <p className="text-bad text-code [overflow-wrap:anywhere]">
      {error.message} No session was created or updated.{" "}
      {isUploadStored ? "You can replay the upload." : "The upload is no longer stored. Send it again."}
    </p>
  );
}
