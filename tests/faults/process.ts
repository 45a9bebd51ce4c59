import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { hashOptions } from "../support/server.ts";

const words = {
  web: { file: "server/web.ts", flags: [] as string[] },
  worker: { file: "server/worker.ts", flags: ["--conditions=react-server"] },
  launcher: { file: "server/npm-start.mjs", flags: [] as string[] },
};

/** How a process is broken (preload.ts). Points are numbered from 1; with 0 it only reports them. */
export type Break = { point?: number; signal?: "SIGKILL" | "SIGSTOP"; text?: string; clockShiftMs?: number };

/** How a process ended, as Node reports it. */
export type End = { code: number | null; signal: NodeJS.Signals | null };

/** A process of Spoor, with its output. */
export class SpoorProcess {
  readonly #start: () => ChildProcess;
  #child: ChildProcess;
  #kept: boolean;
  #gone: Promise<End>;
  /** Its stdout and stderr, including all restarts. */
  output = "";
  restarts = 0;

  /**
   * @param role web or worker.
   * @param environment overrides this process's own.
   * @param options.broken how and where it is broken; by default it is not.
   * @param options.kept whether it is restarted when it ends, as the launcher does.
   */
  constructor(
    role: keyof typeof words,
    environment: Record<string, string>,
    { broken, kept = false }: { broken?: Break; kept?: boolean } = {},
  ) {
    const { file, flags } = words[role];
    const preload = broken ? ["--import", new URL("./preload.ts", import.meta.url).href] : [];
    const faults = {
      FAULT_POINT: String(broken?.point ?? 0),
      FAULT_SIGNAL: broken?.signal ?? "SIGKILL",
      FAULT_TEXT: broken?.text ?? "",
      FAULT_CLOCK_MS: String(broken?.clockShiftMs ?? 0),
    };
    this.#start = () =>
      fork(file, [], {
        execArgv: [...flags, ...preload, ...hashOptions()],
        env: { ...process.env, ...environment, ...faults },
        stdio: ["ignore", "pipe", "pipe", "ipc"],
      });
    this.#kept = kept;
    this.#child = this.#start();
    this.#gone = this.#watch();
  }

  #watch(): Promise<End> {
    const child = this.#child;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on("data", (bytes: Buffer) => {
        this.output += bytes.toString();
      });
    }
    return once(child, "close").then(async ([code, signal]) => {
      if (this.#kept) {
        await sleep(500);
        if (this.#kept) this.#again();
      }
      return { code, signal };
    });
  }

  #again(): void {
    this.restarts += 1;
    this.#child = this.#start();
    this.#gone = this.#watch();
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Waits until it reports that it is ready. @throws with its output if it ends first, unless it was broken */
  async ready(): Promise<this> {
    const ended = this.#gone.then(({ code, signal }) => {
      if (this.brokenAt) return;
      throw new Error(`A process did not start (${signal ?? code}).\n${this.output.slice(-2000)}`);
    });
    ended.catch(() => {});
    await Promise.race([once(this.#child, "message"), ended]);
    return this;
  }

  /** Sends a signal; after SIGTERM and SIGKILL it is not restarted. */
  signal(signal: NodeJS.Signals): void {
    if (signal === "SIGTERM" || signal === "SIGKILL") this.#kept = false;
    this.#child.kill(signal);
  }

  /** Resolves when it has ended. */
  ended(): Promise<End> {
    return this.#gone;
  }

  /** Kills it, in whatever state. */
  async kill(): Promise<void> {
    this.signal("SIGKILL");
    await this.#gone;
  }

  /** Where it was broken, as preload.ts reported it; undefined if it was not. */
  get brokenAt(): string | undefined {
    return /^fault: (.*)$/m.exec(this.output)?.[1];
  }

  /** Its resident memory in bytes (Linux). */
  residentBytes(): number {
    const status = readFileSync(`/proc/${this.pid}/status`, "utf8");
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024;
  }

  /** Whether it is stopped by SIGSTOP (Linux). */
  isStopped(): boolean {
    return /^State:\s+T/m.test(readFileSync(`/proc/${this.pid}/status`, "utf8"));
  }
}
