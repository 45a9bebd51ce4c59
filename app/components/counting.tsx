import { countOf } from "./figures";
import { Refresh } from "./refresh";

/** That some sessions are not in the figures of a page yet. */
export function Counting({ sessions }: { sessions: number }) {
  if (sessions === 0) return null;
  return (
    <p role="status" className="text-code text-muted">
      Still counting {countOf(sessions, "session")}. This page updates automatically.
      <Refresh everySeconds={3} />
    </p>
  );
}

/** In the place of a figure that is not known while something is counted: nothing, where nothing is. */
export const notYet = (due: number): string => (due > 0 ? "counting…" : "–");
