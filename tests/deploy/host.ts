import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, cpSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "#lib/db/embedded/ports";
import type { Server } from "../support/server.ts";

const isRoot = process.getuid?.() === 0;

/** A copy of the standalone output, as an image or a function host would have it: nothing can be written in it. */
export class Output {
  readonly folder = mkdtempSync(join(tmpdir(), "spoor-output-"));

  constructor() {
    cpSync(".next/standalone", this.folder, { recursive: true, verbatimSymlinks: true });
    cpSync(".next/static", join(this.folder, ".next/static"), { recursive: true });
    if (!isRoot) this.#allow(0o555, 0o444);
  }

  /** Who runs `server.js`. Root writes where it likes, but not on a read-only mount. */
  command(): [file: string, words: string[]] {
    const node = [process.execPath, "server.js"];
    if (!isRoot) return [node[0] ?? "", node.slice(1)];
    const script = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && cd "$0" && exec "$@"';
    return ["unshare", ["--mount", "sh", "-c", script, this.folder, ...node]];
  }

  remove(): void {
    if (!isRoot) this.#allow(0o755, 0o644);
    rmSync(this.folder, { recursive: true, force: true });
  }

  #allow(folders: number, files: number): void {
    const entries = readdirSync(this.folder, { recursive: true, withFileTypes: true });
    for (const entry of entries) {
      if (!entry.isSymbolicLink()) {
        chmodSync(join(entry.parentPath, entry.name), entry.isDirectory() ? folders : files);
      }
    }
    chmodSync(this.folder, folders);
  }
}

/** A host that runs `server.js` of the standalone output, and nothing else: no launcher, no worker. */
export class Host {
  readonly #output: Output;
  readonly #environment: Record<string, string>;
  #child: ChildProcess | undefined;
  /** Its stdout and stderr, of all processes. */
  log = "";
  starts = 0;
  url = "";

  constructor(output: Output, environment: Record<string, string>) {
    this.#output = output;
    this.#environment = environment;
  }

  /** A fresh process. @returns the milliseconds until it answered */
  async start(): Promise<number> {
    const startedAt = performance.now();
    const port = await freePort();
    this.url = `http://127.0.0.1:${port}`;
    this.#spawn(port);
    for (;;) {
      const response = await fetch(`${this.url}/api/health`).catch(() => undefined);
      if (response?.ok) return performance.now() - startedAt;
      if (this.hasEnded) throw new Error(`the process ended: ${this.log}`);
      await sleep(20);
    }
  }

  /** How a process ends that can't start. */
  async end(): Promise<number | null> {
    const child = this.#spawn(await freePort());
    const [code] = await once(child, "close");
    return code;
  }

  /** For the helpers of the other tests. */
  get server(): Server {
    return { url: this.url, stop: async () => {} };
  }

  get hasEnded(): boolean {
    return this.#child === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** Ends the process. @returns its exit code, or the signal that ended it */
  async stop(signal: NodeJS.Signals = "SIGKILL"): Promise<number | string | null> {
    const child = this.#child;
    if (!child || this.hasEnded) return null;
    const closed = once(child, "close");
    child.kill(signal);
    const [code, by] = await closed;
    return by ?? code;
  }

  #spawn(port: number): ChildProcess {
    const [file, words] = this.#output.command();
    const { PATH = "", TMPDIR = tmpdir() } = process.env;
    const child = spawn(file, words, {
      cwd: this.#output.folder,
      env: { PATH, TMPDIR, HOSTNAME: "127.0.0.1", PORT: String(port), NODE_ENV: "production", ...this.#environment },
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (bytes: Buffer) => {
        this.log += bytes.toString();
      });
    }
    this.#child = child;
    this.starts += 1;
    return child;
  }
}
