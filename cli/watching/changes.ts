import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { FolderEvents } from "./folder-events.ts";
import type { LookedAt, RoundReport, RoundRequest } from "./sender-process.ts";

type WantedSearches = RoundRequest["wanted"];

/** An agent writes several lines at once. */
const debounceMs = 100;
/** New folders and a wake from sleep raise no event. */
const checkIntervalMs = 2000;
/** Events may be lost, so everything is searched now and then. */
const minSweepIntervalMs = 300_000;
/** Maximum shares of time for complete searches and for polling. */
const [maxSweepShare, maxSearchShare] = [0.005, 0.05];
const minPollIntervalMs = 1000;
/**
 * The pause after a round, as a multiple of its duration, so that a growing session of 100 MB is not read constantly.
 */
const restFactor = 2;
const maxRestMs = 10_000;
/** After this many changed paths an adapter searches everything. */
const maxPaths = 1000;
/** The wall clock gains this much on the monotonic clock while the machine sleeps. */
const sleepMs = 30_000;

type KnownPaths = { walked: Set<string>; listed: Set<string>; files: Set<string>; restUntil: number };

/** Decides which adapters must search again, by events in the folders that they searched before. */
export class Changes {
  readonly #events: FolderEvents;
  readonly #known = new Map<string, KnownPaths>();
  #adapters = new Map<string, string[]>();
  readonly #changed = new Map<string, Set<string> | "all">();
  #changedAt = 0;
  #restUntil = 0;
  #sweepAt = 0;
  #pollAt = 0;
  #wake: () => void = () => {};
  readonly #onProblem: (problem: NonNullable<FolderEvents["problem"]>) => void;
  readonly #timer: NodeJS.Timeout;
  #clockGap = Date.now() - performance.now();
  #hasReported = false;

  constructor(
    onProblem: (problem: NonNullable<FolderEvents["problem"]>) => void,
    events?: (onChange: OnChange) => FolderEvents,
  ) {
    const onChange: OnChange = (folder, name) => this.#note(folder, name);
    this.#events = events?.(onChange) ?? new FolderEvents(onChange);
    this.#onProblem = onProblem;
    this.#timer = setInterval(() => this.#check(), checkIntervalMs);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#events.close();
  }

  async next(signal: AbortSignal): Promise<WantedSearches> {
    for (;;) {
      signal.throwIfAborted();
      const now = performance.now();
      if (now >= this.#sweepAt) return this.#takeAll();
      const wanted = this.#take(now);
      if (wanted) return wanted;
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      const waiting = new AbortController();
      const ended = AbortSignal.any([signal, waiting.signal]);
      await Promise.race([woken, sleep(this.#nextAt() - now, undefined, { signal: ended }).catch(() => {})]);
      waiting.abort();
    }
  }

  finish(wanted: WantedSearches, { lookedAt, milliseconds }: RoundReport): void {
    const now = performance.now();
    this.#restUntil = now + Math.min(maxRestMs, milliseconds * restFactor);
    if (wanted === "all") this.#sweepAt = now + Math.max(minSweepIntervalMs, milliseconds / maxSweepShare);
    let isNew = false;
    for (const [adapter, looked] of Object.entries(lookedAt)) isNew = this.#learn(adapter, looked, now) || isNew;
    if (isNew) this.#watch();
    const polled = [...this.#polled()].map((name) => lookedAt[name]?.milliseconds ?? 0);
    this.#pollAt = now + Math.max(minPollIntervalMs, Math.max(0, ...polled) / maxSearchShare);
  }

  #learn(adapter: string, looked: LookedAt, now: number): boolean {
    const { isWhole, milliseconds } = looked;
    const restUntil = isWhole ? now + Math.min(maxRestMs * 6, milliseconds / maxSearchShare) : 0;
    const before = isWhole ? undefined : this.#known.get(adapter);
    const known = before ?? { walked: new Set(), listed: new Set(), files: new Set(), restUntil };
    this.#known.set(adapter, known);
    known.restUntil = restUntil;
    let isNew = before === undefined;
    for (const kind of ["walked", "listed", "files"] as const) {
      for (const path of looked[kind]) {
        isNew ||= !known[kind].has(path);
        known[kind].add(path);
      }
    }
    return isNew;
  }

  #watch(): void {
    this.#adapters = new Map();
    const deep = new Set<string>();
    for (const [adapter, { walked, listed, files }] of this.#known) {
      const folders = new Set([...walked, ...listed]);
      for (const folder of folders) deep.add(folder);
      for (const folder of new Set([...folders, ...[...files].map((path) => dirname(path))])) {
        const adapters = this.#adapters.get(folder);
        if (adapters) adapters.push(adapter);
        else this.#adapters.set(folder, [adapter]);
      }
    }
    // A folder may have changed between the search and the watch.
    for (const folder of this.#events.watch(this.#adapters.keys(), deep)) this.#note(folder, undefined);
    const { problem } = this.#events;
    if (problem && !this.#hasReported) this.#onProblem(problem);
    this.#hasReported ||= problem !== undefined;
  }

  #polled(): Set<string> {
    return new Set([...this.#events.unwatched].flatMap((folder) => this.#adapters.get(folder) ?? []));
  }

  #note(folder: string, name: string | undefined): void {
    const path = name === undefined ? folder : join(folder, name);
    if (isOwnChange(path)) return;
    for (const adapter of this.#adapters.get(folder) ?? []) {
      const known = this.#known.get(adapter);
      const before = this.#changed.get(adapter) ?? new Set();
      const isFile = name === undefined ? !known?.walked.has(folder) : known?.files.has(path);
      if (isFile || known?.listed.has(folder)) this.#changed.set(adapter, "all");
      else if (!known?.walked.has(folder) || before === "all") continue;
      else this.#changed.set(adapter, before.size < maxPaths ? before.add(path) : "all");
      this.#changedAt ||= performance.now();
      this.#wake();
    }
  }

  forget(): void {
    this.#sweepAt = 0;
    this.#wake();
  }

  #check(): void {
    this.#events.check();
    const gap = Date.now() - performance.now();
    if (gap > this.#clockGap + sleepMs) this.forget();
    this.#clockGap = gap;
  }

  #takeAll(): WantedSearches {
    this.#changed.clear();
    this.#changedAt = 0;
    return "all";
  }

  #take(now: number): WantedSearches | undefined {
    if (now >= this.#pollAt) {
      this.#pollAt = Number.POSITIVE_INFINITY; // until the round has ended
      for (const adapter of this.#polled()) this.#changed.set(adapter, "all");
    }
    const isReady = now >= Math.max(this.#changedAt + debounceMs, this.#restUntil);
    const ready = [...this.#changed].filter(
      ([adapter]) => isReady && now >= (this.#known.get(adapter)?.restUntil ?? 0),
    );
    for (const [adapter] of ready) this.#changed.delete(adapter);
    if (this.#changed.size === 0) this.#changedAt = 0;
    if (ready.length === 0) return undefined;
    return Object.fromEntries(ready.map(([adapter, paths]) => [adapter, paths === "all" ? paths : [...paths]]));
  }

  #nextAt(): number {
    const times = [...this.#changed.keys()].map((adapter) => this.#known.get(adapter)?.restUntil ?? 0);
    const changedAt = Math.max(this.#changedAt + debounceMs, this.#restUntil, Math.min(...times));
    const at = [this.#sweepAt, ...(times.length > 0 ? [changedAt] : [])];
    return Math.min(...at, this.#events.unwatched.size > 0 ? this.#pollAt : Number.POSITIVE_INFINITY);
  }
}

type OnChange = ConstructorParameters<typeof FolderEvents>[0];

/** Reading a SQLite database changes its shared memory and may create an empty log. */
function isOwnChange(path: string): boolean {
  if (path.endsWith("-shm")) return true;
  return path.endsWith("-wal") && (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0;
}
