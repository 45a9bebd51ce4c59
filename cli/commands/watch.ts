import { type FSWatcher, watch as watchFolder } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { adapters } from "../adapters/registry.ts";
import type { Context } from "../context.ts";
import { isMissingOrForbidden } from "../files/discovery.ts";
import { filterOf } from "../sessions/filter.ts";
import { openTarget, type PushTarget, pushOnce, refreshJobs } from "../sync/push-round.ts";
import { formatDuration } from "../terminal/terminal.ts";
import { outcomeOf, tellLeft } from "./push.ts";

/** How long a file may go on changing before it is read: an agent writes several lines at once. */
const settleMs = 300;
/** How long a change may go unseen where the system tells of none. */
const lookEveryMs = 1000;
/** Looking without a reason costs at most this share of the time. */
const maxBusyShare = 0.05;
/** After each look it rests for this many times as long: a session of 100 MB that grows all the time is not read all the time. */
const restShare = 2;
const maxRestMs = 10_000;
const patienceSeconds = 7 * 24 * 3600;

/** Sends what is there, and then what comes, until it is stopped. A server that is away is waited for. */
export async function watch(context: Context): Promise<void> {
  filterOf(context); // what it can't understand is said before anything else
  const { terminal, signal, values } = context;
  const patient = { ...context, values: { ...values, patience: values.patience ?? String(patienceSeconds) } };
  const target = await openTarget(patient);
  terminal.say(`Watching this machine's sessions for ${target.connection.server}. Stop with Ctrl-C.`);
  const changes = new Changes(patient);
  try {
    while (!terminal.isUnread) {
      const busyMs = await sendChanges(patient, target);
      await sleep(Math.min(maxRestMs, busyMs * restShare), undefined, { signal });
      await changes.next(Math.max(lookEveryMs, busyMs / maxBusyShare), signal);
    }
  } finally {
    changes.close();
  }
}

/** @returns how long it took, in milliseconds */
async function sendChanges(context: Context, target: PushTarget): Promise<number> {
  const { terminal } = context;
  await refreshJobs(target, 0);
  const pushed = await pushOnce(context, target, filterOf(context));
  const { sent, left, milliseconds } = pushed;
  if (sent.sessions === 0 && left.length === 0) return milliseconds;
  const at = new Date().toTimeString().slice(0, 8);
  if (sent.sessions > 0)
    terminal.say(
      `${terminal.style("dim", at)}  ${outcomeOf(sent)} ${terminal.style("dim", formatDuration(milliseconds))}`,
    );
  tellLeft(terminal, left);
  terminal.json({ event: "sent", at: new Date().toISOString(), sent, left });
  return milliseconds;
}

/** Wakes up where the system tells of a change in a folder that adapters look at. It may miss some, so nobody relies on it. */
class Changes {
  readonly #watchers: FSWatcher[];
  #wake: () => void = () => {};
  #hasChanged = false;

  constructor({ host }: Context) {
    const roots = adapters.flatMap((adapter) => adapter.diagnose(host).map(({ path }) => path));
    this.#watchers = [...new Set(roots)].flatMap((path) => this.#watch(path) ?? []);
  }

  #watch(path: string): FSWatcher | undefined {
    try {
      const watcher = watchFolder(path, { recursive: true, persistent: false }, () => this.#changed());
      return watcher.on("error", () => watcher.close());
    } catch (error) {
      if (isMissingOrForbidden(error) || isUnsupported(error)) return undefined;
      throw error;
    }
  }

  #changed(): void {
    this.#hasChanged = true;
    this.#wake();
  }

  /** Waits for a change and until it has settled, at most so many milliseconds. */
  async next(maxMs: number, signal: AbortSignal): Promise<void> {
    const deadline = performance.now() + maxMs;
    while (!this.#hasChanged && performance.now() < deadline) {
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      await Promise.race([woken, sleep(Math.min(250, deadline - performance.now()), undefined, { signal })]);
    }
    if (this.#hasChanged) await sleep(settleMs, undefined, { signal });
    this.#hasChanged = false;
  }

  close(): void {
    for (const watcher of this.#watchers) watcher.close();
  }
}

/** Systems bound how many folders are watched, and some watch none below the first. */
const isUnsupported = (error: unknown): boolean =>
  ["ENOSPC", "EMFILE", "ENOSYS", "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM"].includes(
    (error as NodeJS.ErrnoException).code ?? "",
  );
