import { readFileSync, statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { findFiles, isMissingOrForbidden } from "../../files/discovery.ts";
import type { Fields } from "../../files/json.ts";
import { readRecords } from "../../files/json-lines.ts";
import { maxWholeBytes } from "../../files/line-reader.ts";
import type { Adapter, Input, Sink } from "../adapter.ts";
import { SessionBuilder } from "../session-builder.ts";
import { findFolder, readTitle, roots } from "./places.ts";
import { Steps } from "./steps.ts";

const source = "antigravity";
const fullName = "transcript_full.jsonl";
const shortName = "transcript.jsonl";

/** Steps are written a little out of order, as tools end: so many wait for those before them. */
const maxWaiting = 256;

/**
 * Google Antigravity: the transcripts of its CLI and editor, `brain/CONVERSATION/.system_generated/logs/transcript_full.jsonl`, or
 * `transcript.jsonl`, whose long texts it cuts off. The conversations themselves are encrypted, or in a format without
 * documentation.
 */
export const antigravity: Adapter = {
  name: source,
  title: "Antigravity",
  version: 1,
  searchRoots: (host) => roots(host).map((root) => ({ path: join(root, "brain") })),
  async *discover(host) {
    const known = new Set<string>();
    for (const root of roots(host)) {
      const found: Input[] = [];
      for await (const input of findFiles(join(root, "brain"), (name) => name === fullName || name === shortName)) {
        found.push(input);
      }
      // The full transcript of each comes first.
      for (const input of found.sort((a, b) => Number(isShort(a.path)) - Number(isShort(b.path)))) {
        const id = getConversationId(input.path);
        if (input.stamp !== "forbidden" && known.has(id)) continue;
        known.add(id);
        // A command that goes on in the background writes its output there.
        const tasks = await stat(getTasksFolder(input.path)).catch(() => undefined);
        yield tasks ? { ...input, stamp: `${input.stamp} ${tasks.mtimeMs}` } : input;
      }
    }
  },
  parse: ({ path }, sink) => readTranscript(path, sink),
};

const isShort = (path: string): boolean => basename(path) === shortName;
const getConversationFolder = (path: string): string => dirname(dirname(dirname(path)));
const getConversationId = (path: string): string => basename(getConversationFolder(path));
const getTasksFolder = (path: string): string => join(dirname(dirname(path)), "tasks");

async function readTranscript(path: string, sink: Sink): Promise<void> {
  const id = getConversationId(path);
  const root = dirname(dirname(getConversationFolder(path)));
  const session = new SessionBuilder(sink, source, id);
  session.noteFolder(await findFolder(root, id));
  session.noteTitle(await readTitle(root, id));
  const taskOutput = (step: number) => readTask(join(getTasksFolder(path), `task-${step}.log`));
  const steps = new Steps((type) => sink.unhandled(type), isShort(path), taskOutput);
  const order = new StepOrder((step) => {
    const messages = steps.read(step);
    if (messages.length === 0) sink.skipped();
    const isAnswer = step.type === "PLANNER_RESPONSE";
    session.send(messages, { at: step.created_at, model: isAnswer ? steps.model : undefined });
  });
  await readRecords(path, sink, (step) => order.add(step));
  order.end();
  session.end();
}

/** Puts steps into the order of their numbers, with a few of them in memory. */
class StepOrder {
  readonly #take: (step: Fields) => void;
  readonly #waiting = new Map<number, Fields>();
  #next = 0;

  constructor(take: (step: Fields) => void) {
    this.#take = take;
  }

  add(step: Fields): void {
    const { step_index: index } = step;
    if (typeof index !== "number" || index < this.#next || this.#waiting.has(index)) {
      this.#take(step);
      return;
    }
    this.#waiting.set(index, step);
    this.#release();
    if (this.#waiting.size > maxWaiting) this.#skipTo(Math.min(...this.#waiting.keys()));
  }

  end(): void {
    while (this.#waiting.size > 0) this.#skipTo(Math.min(...this.#waiting.keys()));
  }

  #skipTo(index: number): void {
    this.#next = index;
    this.#release();
  }

  #release(): void {
    for (let step = this.#waiting.get(this.#next); step; step = this.#waiting.get(this.#next)) {
      this.#waiting.delete(this.#next++);
      this.#take(step);
    }
  }
}

/** What a command printed after its step was written. */
function readTask(path: string): string | undefined {
  try {
    const found = statSync(path);
    return found.isFile() && found.size <= maxWholeBytes ? readFileSync(path, "utf8") : undefined;
  } catch (error) {
    if (isMissingOrForbidden(error)) return undefined;
    throw error;
  }
}
