import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const recorder = new URL("./record.ts", import.meta.url).href;

/** Records the statements of processes that are started with `environment`. */
export class Statements {
  readonly #file = join(tmpdir(), `spoor-statements-${randomUUID()}`);

  /** @param options Node's own options for these processes */
  environment(options = ""): Record<string, string> {
    return { SPOOR_STATEMENTS_FILE: this.#file, NODE_OPTIONS: `--import=${recorder} ${options}`.trim() };
  }

  /** The texts so far, but for those on no tenant table. */
  read(): string[] {
    if (!existsSync(this.#file)) return [];
    const lines = readFileSync(this.#file, "utf8").split("\n");
    return [...new Set(lines.filter(Boolean).map((line) => JSON.parse(line) as string))];
  }

  /** Ends the recording. @throws naming those that a distributed database would refuse */
  async check(): Promise<void> {
    const texts = this.read();
    rmSync(this.#file, { force: true });
    await checkStatements(texts);
  }
}

/** @throws naming the statements that a distributed database would refuse, and why; or a warning of `pg` */
export async function checkStatements(texts: string[]): Promise<void> {
  if (texts.length === 0) return;
  const warning = texts.find((text) => text.startsWith("-- "));
  if (warning) throw new Error(`A process of the server warned: ${warning}`);
  const { findRefusal } = await import("./rules.ts"); // it loads PostgreSQL's parser
  const refused = texts.flatMap((text) => {
    const reason = findRefusal(text);
    return reason ? [`${reason}:\n  ${text.replaceAll(/\s+/g, " ")}`] : [];
  });
  if (refused.length > 0) throw new Error(`A distributed database would refuse:\n${refused.join("\n")}`);
}
