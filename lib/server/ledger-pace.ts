/** How long a session must be unchanged before it is accounted for, in seconds: while uploads have work, they get the processor. */
const settledSeconds = { usually: 3, whileUploadsWork: 120 };
/** An upload that took so long is one of a backlog, or of an import, of which more may come; and for how long they may. */
const large = { tookMs: 200, followMs: 5000 };

/**
 * When the ledger has its turn: it waits while uploads are open, and for a while after a large one, up to two minutes. Small
 * ones, as of sessions that are being worked on, hold up nothing.
 *
 * @param now a clock in milliseconds
 */
export function makeLedgerPace(now: () => number = () => performance.now()) {
  let largeAt = Number.NEGATIVE_INFINITY;
  return {
    /** Tells that this process ended an upload. */
    worked: (ms: number): void => {
      if (ms >= large.tookMs) largeAt = now();
    },
    /** @returns how long a session must have been unchanged to be accounted for now */
    settledSeconds: (uploadsWait: boolean): number =>
      uploadsWait || now() - largeAt < large.followMs ? settledSeconds.whileUploadsWork : settledSeconds.usually,
  };
}
