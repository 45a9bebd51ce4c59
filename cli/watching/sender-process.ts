import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

/** Delay before the process ends after a busy round, because another may follow. */
const lingerMs = 10_000;
const shortLingerMs = 1000;
const maxEndMs = 5000;

export type SenderEnd = { code: number | null };

/** The process ends after its work, because V8 and the C library only then return memory. */
export class SenderProcess {
  #child: ChildProcess | undefined;
  #linger: NodeJS.Timeout | undefined;
  #carried: Carried = { unsendable: [], reported: [] };
  #rounds = 0;
  #roundAt = -Infinity;

  start(): ChildProcess {
    clearTimeout(this.#linger);
    if (this.#child) return this.#child;
    const words = [...process.execArgv, ...process.argv.slice(1), "--sender"];
    const child = spawn(process.execPath, words, {
      stdio: ["inherit", "inherit", "inherit", "ipc"],
      windowsHide: true,
    });
    child.on("error", () => {}); // it has ended then
    child.once("exit", () => {
      if (this.#child === child) this.#child = undefined;
    });
    this.#child = child;
    return child;
  }

  /** @throws if `signal` aborts */
  async round(wanted: RoundRequest["wanted"], signal: AbortSignal): Promise<RoundReport | SenderEnd> {
    const child = this.start();
    const waiting = new AbortController();
    const options = { signal: AbortSignal.any([signal, waiting.signal]) };
    const answered = once(child, "message", options) as Promise<[RoundReport]>;
    const ended = once(child, "exit", options) as Promise<[number | null]>;
    const request: RoundRequest = { wanted, isFirst: this.#rounds === 0, carried: this.#carried };
    child.send(request, () => {}); // if this fails, the process has ended
    try {
      return await Promise.race([
        answered.then(([report]) => this.#finish(wanted, report)),
        ended.then(([code]): SenderEnd => ({ code })),
      ]);
    } finally {
      waiting.abort();
      await Promise.allSettled([answered, ended]);
    }
  }

  #finish(wanted: RoundRequest["wanted"], report: RoundReport): RoundReport {
    this.#rounds++;
    this.#carried = report.carried;
    const now = performance.now();
    // A round of everything takes the most memory.
    const isBusy = wanted !== "all" && this.#rounds > 2 && (report.hasSent || now - this.#roundAt < 3 * lingerMs);
    this.#roundAt = now;
    this.#linger = setTimeout(() => void this.end(), isBusy ? lingerMs : shortLingerMs);
    return report;
  }

  async end(): Promise<void> {
    clearTimeout(this.#linger);
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const timer = setTimeout(() => child.kill("SIGKILL"), maxEndMs);
    const gone = once(child, "exit");
    if (child.connected) child.disconnect();
    await gone;
    clearTimeout(timer);
  }
}

export type RoundRequest = {
  wanted: Record<string, string[] | "all"> | "all";
  isFirst: boolean;
  carried: Carried;
};

/** Passed from one sender to the next, and not stored, because another run tries again. */
export type Carried = {
  unsendable: [string, string][];
  /** Invalid entries already reported, because a growing file is read repeatedly. */
  reported: string[];
};

export type LookedAt = {
  isWhole: boolean;
  walked: string[];
  listed: string[];
  files: string[];
  milliseconds: number;
};

export type RoundReport = {
  lookedAt: Record<string, LookedAt>;
  milliseconds: number;
  hasSent: boolean;
  carried: Carried;
};
