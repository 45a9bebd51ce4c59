/** Something that waits to be done together with others, and how its caller hears of it. */
export type Waiting<T, R> = { item: T; resolve: (result: R) => void; reject: (error: unknown) => void };

/**
 * Makes a function whose calls are done together: those of one turn of the event loop, and those that come while the groups
 * before them are under way.
 *
 * @param settle does a group, and resolves or rejects each of it. Where it throws, the rest of the group and all that wait
 *   behind it are rejected with that: they would only learn the same later.
 * @param bounds.most how many a group has at most.
 * @param bounds.atOnce how many groups are under way at once.
 */
export function together<T, R>(
  settle: (group: Waiting<T, R>[]) => Promise<void>,
  bounds: { max: number; atOnce: number },
): (item: T) => Promise<R> {
  const waiting: Waiting<T, R>[] = [];
  let running = 0;

  const run = async () => {
    running += 1;
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.length > 0) {
      const group = waiting.splice(0, bounds.max);
      await settle(group).catch((error) => {
        for (const { reject } of [...group, ...waiting.splice(0)]) reject(error);
      });
    }
    running -= 1;
  };

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (running < bounds.atOnce) run();
    });
}
