export type Pending<T, R> = { item: T; resolve: (result: R) => void; reject: (error: unknown) => void };

/**
 * Returns a function whose calls are processed in groups: those of one turn of the event loop, and those that arrive while earlier
 * groups are in flight.
 *
 * @param settle settles each item of a group. If it throws, the group and every queued call are rejected with that error.
 */
export function coalesce<T, R>(
  settle: (group: Pending<T, R>[]) => Promise<void>,
  { maxGroup, maxInFlight }: { maxGroup: number; maxInFlight: number },
): (item: T) => Promise<R> {
  const queue: Pending<T, R>[] = [];
  let inFlight = 0;

  const drain = async () => {
    inFlight += 1;
    await new Promise((resolve) => setImmediate(resolve));
    while (queue.length > 0) {
      const group = queue.splice(0, maxGroup);
      await settle(group).catch((error) => {
        for (const { reject } of [...group, ...queue.splice(0)]) reject(error);
      });
    }
    inFlight -= 1;
  };

  return (item) =>
    new Promise((resolve, reject) => {
      queue.push({ item, resolve, reject });
      if (inFlight < maxInFlight) drain();
    });
}
