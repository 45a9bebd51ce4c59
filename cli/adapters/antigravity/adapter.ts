import { readFileSync, statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { findFiles, isMissingOrForbidden } from "../../files/discovery.ts";
import { readRecords } from "../../files/json-lines.ts";
import { maxWholeBytes } from "../../files/line-reader.ts";
import type { Adapter, Input, Sink } from "../adapter.ts";
import { Reorderer } from "../reorderer.ts";
import { SessionBuilder } from "../session-builder.ts";
import { asCount } from "../values.ts";
import { findFolder, getRoots, readTitle } from "./places.ts";
import { StepReader } from "./steps.ts";

const source = "antigravity";
const fullName = "transcript_full.jsonl";
const shortName = "transcript.jsonl";

/** Steps are written a little out of order, as tools end. */
const maxWaiting = 256;

export const antigravity: Adapter = {
  name: source,
  title: "Antigravity",
  version: 1,
  getSearchRoots: (host) => getRoots(host).map((root) => ({ path: join(root, "brain") })),
  async *discover(host) {
    const known = new Set<string>();
    for (const root of getRoots(host)) {
      const found: Input[] = [];
      for await (const input of findFiles(join(root, "brain"), (name) => name === fullName || name === shortName)) {
        found.push(input);
      }
      for (const input of found.sort((a, b) => Number(isShort(a.path)) - Number(isShort(b.path)))) {
        const id = getConversationId(input.path);
        if (input.stamp !== "forbidden" && known.has(id)) continue;
        known.add(id);
        // A command that continues in the background writes its output there.
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
  const steps = new StepReader((type) => sink.unhandled(type), isShort(path), taskOutput);
  const order = new Reorderer(maxWaiting, (step) => {
    const messages = steps.read(step);
    const isAnswer = step.type === "PLANNER_RESPONSE";
    session.add(messages, { at: step.created_at, model: isAnswer ? steps.model : undefined });
  });
  await readRecords(path, sink, (step) => order.add(asCount(step.step_index), step));
  order.end();
  session.end();
}

function readTask(path: string): string | undefined {
  try {
    const found = statSync(path);
    return found.isFile() && found.size <= maxWholeBytes ? readFileSync(path, "utf8") : undefined;
  } catch (error) {
    if (isMissingOrForbidden(error)) return undefined;
    throw error;
  }
}
