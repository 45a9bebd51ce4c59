import type { Job } from "#lib/ingest/jobs";

const looks = {
  left: "i-lucide-chevron-left size-[1.15em]",
  cross: "i-lucide-x size-[1.15em]",
  check: "i-lucide-check size-[1.15em]",
  ring: "size-[0.7em] rounded-full border-2 border-current",
  dot: "size-[0.7em] rounded-full border-2 border-current bg-current",
  branch: "i-lucide-git-branch size-[1.15em]",
} as const;

/** Drawn, since not every system has a glyph for each. */
export function Sign({ name }: { name: keyof typeof looks | "down" }) {
  if (name === "down") return <span aria-hidden="true" className="sign-down" />; // a list has many, and this is 50 bytes shorter
  return <span aria-hidden="true" className={`inline-block shrink-0 align-middle ${looks[name]}`} />;
}

const marks = {
  queued: { sign: "ring", word: "waiting", look: "" },
  running: { sign: "dot", word: "running", look: "pill-accent" },
  succeeded: { sign: "check", word: "done", look: "pill-ok" },
  failed: { sign: "cross", word: "failed", look: "pill-bad" },
} as const;

/** @param isLive may change on the page; screen readers announce it */
export function StatusMark({ status, isLive = false }: { status: Job["status"]; isLive?: boolean }) {
  const { sign, word, look } = marks[status];
  return (
    <span role={isLive ? "status" : undefined} className={`pill ${look}`}>
      <Sign name={sign} /> {word}
    </span>
  );
}
