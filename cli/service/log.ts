import { appendFileSync, mkdirSync, renameSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Host } from "../adapters/adapter.ts";
import { stateFolder } from "../files/state-files.ts";

const maxBytes = 1024 * 1024;

export const getLogPath = (host: Host): string => join(stateFolder(host), "service.log");

/** The service's log as a terminal's stream: lines with times, in a file of bounded size. */
export class ServiceLog {
  readonly #path: string;
  #bytes = 0;

  constructor(host: Host) {
    this.#path = getLogPath(host);
    try {
      mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
      this.#bytes = statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0;
    } catch {
      // Ignored, as in `write`.
    }
  }

  write(text: string): void {
    try {
      if (this.#bytes > maxBytes) {
        renameSync(this.#path, `${this.#path}.1`);
        this.#bytes = 0;
      }
      appendFileSync(this.#path, `${new Date().toISOString()}  ${text}`, { mode: 0o600 });
      this.#bytes += Buffer.byteLength(text);
    } catch {
      // A full disk or a read-only home must not stop the sending.
    }
  }

  on(): void {}
}

export async function readLastLines(host: Host, count: number): Promise<string[]> {
  const texts = await Promise.all(
    [`${getLogPath(host)}.1`, getLogPath(host)].map((path) => readFile(path, "utf8").catch(() => "")),
  );
  return texts.join("").split("\n").filter(Boolean).slice(-count);
}
