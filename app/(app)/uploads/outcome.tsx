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
  "incomplete and left as stored: the upload had only what came after messages that are not stored. Clients send it whole.";

/** Earlier versions did not record the reason. */
const unknownReason =
  "Kept as stored: the upload was shorter or older than what is stored, or you had deleted the session.";

function listKeptReasons({ shorter, newer, deleted }: NonNullable<ListedJob["kept"]>): string[] {
  const sentences = [
    shorter > 0 &&
      `${formatQuantity(shorter, "session")} kept as stored: the upload has fewer messages. What comes to ${shorter === 1 ? "it" : "them"} is not stored until the upload has more; to store it in place of what is here, run spoor push --replace with the session’s id.`,
    newer > 0 && `${formatQuantity(newer, "session")} kept as stored: a newer upload was processed first.`,
    deleted > 0 &&
      `${formatQuantity(deleted, "session")} not stored again: you had deleted ${deleted === 1 ? "it" : "them"}.`,
  ];
  return sentences.filter((sentence) => sentence !== false);
}

const words = { shorter: "has fewer messages", newer: "older than what is stored", deleted: "deleted here" };

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
      {isUploadStored ? "You can replay the upload." : "The upload is no longer stored: send it again."}
    </p>
  );
}
