const settledSeconds = { usually: 3, whileUploadsWork: 120 };
/** After an upload that took this long, as in an import, more may follow within `followMs`. */
const large = { tookMs: 200, followMs: 5000 };

/** The ledger waits up to two minutes while uploads are open or after a large one. */
export function makeLedgerPace(now: () => number = () => performance.now()) {
  let largeAt = Number.NEGATIVE_INFINITY;
  return {
    worked: (ms: number): void => {
      if (ms >= large.tookMs) largeAt = now();
    },
    settledSeconds: (uploadsWait: boolean): number =>
      uploadsWait || now() - largeAt < large.followMs ? settledSeconds.whileUploadsWork : settledSeconds.usually,
  };
}
