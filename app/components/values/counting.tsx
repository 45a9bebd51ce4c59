import { Refresh } from "../shell/refresh";
import { formatQuantity } from "./figures";

export function Counting({ sessions }: { sessions: number }) {
  if (sessions === 0) return null;
  return (
    <p role="status" className="text-code text-muted">
      Still counting {formatQuantity(sessions, "session")}. This page updates automatically.
      <Refresh everySeconds={3} />
    </p>
  );
}

/** Zero may only mean that sessions are still being counted. */
export const notYet = (due: number): string => (due > 0 ? "counting…" : "–");
