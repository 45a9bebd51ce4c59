import { type FSWatcher, watch as watchFolder } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { adapters } from "../adapters/registry.ts";
import type { Context } from "../context.ts";
import { isMissingOrForbidden } from "../files/discovery.ts";
import { SessionFilter } from "../sessions/filter.ts";
import { pushOnce } from "../sync/push-round.ts";
import { openTarget, type PushTarget, refreshJobs } from "../sync/push-target.ts";
import { formatDuration } from "../terminal/format.ts";
import { describeSent, warnInvalid, warnUnsent } from "../terminal/outcomes.ts";
import { styled } from "../terminal/styled.ts";

/** Debounce: an agent writes several lines at once. */
const debounceMs = 300;
/** The polling interval, for systems that report no changes. */
const pollIntervalMs = 1000;
/** The largest share of time spent polling without a change. */
const maxPollingShare = 0.05;
/** Idle time after each round, as a multiple of its duration: a session of 100 MB that keeps growing is not read all the time. */
const restFactor = 2;
const maxRestMs = 10_000;
const patienceSeconds = 7 * 24 * 3600;

/** Sends sessions as they are written, until it is stopped. Waits for an unavailable server for up to a week. */
export async function watch(context: Context): Promise<void> {
  new SessionFilter(context); // wrong values are reported first
  const { terminal, signal, values } = context;
  const patient = { ...context, values: { ...values, patience: values.patience ?? String(patienceSeconds) } };
  const target = await openTarget(patient);
  terminal.say(`Watching for new sessions to send to ${target.connection.server}. Stop with Ctrl-C.`);
  const changes = new Changes(patient);
  const reported = new Set<string>();
  try {
    for (let round = 0; !terminal.isUnread; round++) {
      const filter = new SessionFilter(patient);
      const busyMs = await sendChanges(patient, target, { filter, reported });
      if (round === 0) for (const message of filter.unmatched().messages) terminal.warn(message);
      await sleep(Math.min(maxRestMs, busyMs * restFactor), undefined, { signal });
      await changes.wait(Math.max(pollIntervalMs, busyMs / maxPollingShare), signal);
    }
  } finally {
    changes.close();
  }
}

type RoundState = {
  filter: SessionFilter;
  /** Invalid entries that were reported before: a growing file is read again and again. */
  reported: Set<string>;
};

/** @returns how long it took, in milliseconds */
async function sendChanges(context: Context, target: PushTarget, { filter, reported }: RoundState): Promise<number> {
  const { terminal } = context;
  await refreshJobs(target, 0);
  const { sent, left, stats, milliseconds } = await pushOnce(context, target, filter);
  const invalidSamples = [...stats.values()].flatMap((one) => one.invalidSamples.filter((it) => !reported.has(it)));
  for (const sample of invalidSamples) reported.add(sample);
  warnInvalid(terminal, [{ invalid: invalidSamples.length, invalidSamples }]);
  if (sent.sessions === 0 && left.length === 0) return milliseconds;
  const at = new Date().toTimeString().slice(0, 8);
  if (sent.sessions > 0) {
    terminal.say(styled("dim", at), `  ${describeSent(sent)} `, styled("dim", formatDuration(milliseconds)));
  }
  warnUnsent(terminal, left);
  terminal.json({ event: "sent", at: new Date().toISOString(), sent, left });
  return milliseconds;
}

/** Waits for changes below the adapters' folders. File system events are only hints: some systems miss or limit them. */
class Changes {
  readonly #watchers: FSWatcher[];
  #wake: () => void = () => {};
  #hasChanged = false;

  constructor({ host }: Context) {
    const roots = adapters.flatMap((adapter) => adapter.searchRoots(host).map(({ path }) => path));
    this.#watchers = [...new Set(roots)].flatMap((path) => this.#watch(path) ?? []);
  }

  #watch(path: string): FSWatcher | undefined {
    try {
      const watcher = watchFolder(path, { recursive: true, persistent: false }, () => this.#notify());
      return watcher.on("error", () => watcher.close());
    } catch (error) {
      if (isMissingOrForbidden(error) || isUnsupported(error)) return undefined;
      throw error;
    }
  }

  #notify(): void {
    this.#hasChanged = true;
    this.#wake();
  }

  /** Waits for a change and the debounce time after it, or until `timeoutMs` have passed. */
  async wait(timeoutMs: number, signal: AbortSignal): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    while (!this.#hasChanged && performance.now() < deadline) {
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      await Promise.race([
        woken,
        sleep(Math.max(1, Math.min(250, deadline - performance.now())), undefined, { signal }),
      ]);
    }
    if (this.#hasChanged) await sleep(debounceMs, undefined, { signal });
    this.#hasChanged = false;
  }

  close(): void {
    for (const watcher of this.#watchers) watcher.close();
  }
}

/** Some systems limit the number of watched folders, or can't watch subfolders. */
const isUnsupported = (error: unknown): boolean =>
  ["ENOSPC", "EMFILE", "ENOSYS", "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM"].includes(
    (error as NodeJS.ErrnoException).code ?? "",
  );
