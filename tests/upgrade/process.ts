import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "#lib/db/embedded/ports";

const startSeconds = 120;

/** What `npm start` of a version runs, without npm, which would not pass signals on. */
const findLauncher = (folder: string) =>
  existsSync(join(folder, "server/npm-start.mjs"))
    ? ["server/npm-start.mjs"]
    : ["--conditions=react-server", "lib/server/start.ts"]; // 0.2.0

/** A launcher of a version, with what it printed. */
export class Launched {
  readonly url: string;
  readonly name: string;
  readonly #child: ChildProcess;
  #said = "";

  private constructor(name: string, port: number, child: ChildProcess) {
    this.name = name;
    this.url = `http://localhost:${port}`;
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on("data", (text) => {
        this.#said = (this.#said + text).slice(-20_000);
      });
    }
  }

  /** Starts a role of the version in a folder, and waits until its web answers that it lives. */
  static async start(folder: string, name: string, role: "all" | "web", environment: Record<string, string>) {
    const port = await freePort();
    const child = spawn(process.execPath, [...findLauncher(folder), role], {
      cwd: folder,
      env: { ...process.env, ...environment, PORT: String(port) },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const launched = new Launched(name, port, child);
    await launched.#answers();
    return launched;
  }

  async #answers(): Promise<void> {
    for (let tries = 0; tries < startSeconds * 10; tries += 1) {
      if (this.#child.exitCode !== null) break;
      const response = await fetch(`${this.url}/api/health`).catch(() => undefined);
      if (response?.ok) return;
      await sleep(100);
    }
    await this.stop();
    throw new Error(`${this.name} did not start:\n${this.#said}`);
  }

  /** Whether it may be sent requests: what a load balancer asks. */
  async isReady(): Promise<boolean> {
    return (await fetch(`${this.url}/api/ready`).catch(() => undefined))?.ok ?? false;
  }

  /** SIGTERM; SIGKILL after 30 s. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "exit");
    const late = setTimeout(() => this.#child.kill("SIGKILL"), 30_000);
    this.#child.kill("SIGTERM");
    await ended;
    clearTimeout(late);
  }

  /** What it printed, for a failure. */
  get said(): string {
    return this.#said;
  }
}
