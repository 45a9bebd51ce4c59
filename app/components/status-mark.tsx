import type { Job } from "#lib/ingest/jobs";
import { Sign } from "./sign";

const marks = {
  queued: { sign: "ring", word: "waiting", ink: "text-muted" },
  running: { sign: "dot", word: "running", ink: "text-accent" },
  succeeded: { sign: "check", word: "done", ink: "text-ok" },
  failed: { sign: "cross", word: "failed", ink: "text-bad" },
} as const;

/** @param isLive may change on the page; screen readers announce it */
export function StatusMark({ status, isLive = false }: { status: Job["status"]; isLive?: boolean }) {
  const { sign, word, ink } = marks[status];
  return (
    <span role={isLive ? "status" : undefined} className={`inline-flex items-center gap-2 font-medium ${ink}`}>
      <Sign name={sign} /> {word}
    </span>
  );
}
