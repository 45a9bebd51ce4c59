import type { Standing } from "#lib/traces/standing";

export function StandingMark({ standing: { live, waiting } }: { standing: Standing }) {
  if (!live) return null;
  return (
    <span className="live-mark shrink-0 text-code" title="Active in the last ten minutes">
      <span className="max-sm:sr-only">{standingText(waiting)}</span>
    </span>
  );
}

export type Following = { isOn: boolean; onToggle: () => void };

/** On, the page stays at the end while messages come; scrolling up pauses it. */
export function FollowSwitch({ following: { isOn, onToggle } }: { following: Following }) {
  return (
    <button
      type="button"
      aria-pressed={isOn}
      title={isOn ? "Stop following new messages" : "Follow new messages"}
      aria-label="Follow new messages"
      onClick={onToggle}
      className="icon-button needs-script aria-pressed:text-accent"
    >
      <span className="i-lucide-arrow-down-to-line size-4" />
    </button>
  );
}

export function StandingLine({ standing: { live, waiting } }: { standing: Standing }) {
  if (!live) return null;
  const said = {
    waiting: "The agent has finished and is waiting for you",
    asking: "Waiting for your answer",
  };
  return (
    <p role="status" className="live-mark py-3 text-code text-muted print:hidden">
      {waiting ? said[waiting] : "In progress — new messages appear here"}
    </p>
  );
}

const words = { waiting: "Agent is waiting", asking: "Agent asks" } as const;

export const standingText = (waiting: Standing["waiting"]): string => (waiting ? words[waiting] : "Live");
