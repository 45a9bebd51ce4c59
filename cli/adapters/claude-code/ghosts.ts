import { basename, dirname, join } from "node:path";
import { statInput } from "../../files/discovery.ts";
import { type Fields, isFields } from "../../files/json.ts";
import { readRecords } from "../../files/json-lines.ts";
import type { Input, Message, Sink } from "../adapter.ts";
import { asString, asTimestamp, getProjectName } from "../values.ts";
import { findSessions } from "./discovery.ts";

const historyName = "history.jsonl";

/** A session's file appears only while its first prompt is answered. */
const settledMs = 10 * 60_000;
const max = { prompts: 10_000, pasted: 100 };

export const isHistory = (path: string): boolean => basename(path) === historyName && !/[\\/]projects[\\/]/.test(path);

export async function* findHistories(roots: readonly { path: string }[]): AsyncGenerator<Input> {
  for (const folder of new Set(roots.map(({ path }) => dirname(path)))) {
    const input = await statInput(join(folder, historyName));
    if (input) yield input;
  }
}

type Ghost = { messages: Message[]; cwd?: string; latest: number };

/**
 * Claude Code deletes sessions after 30 days. The prompts become a session of the kind `prompts-only`, which the
 * original replaces if it turns up.
 */
export async function parseHistory({ path }: Input, sink: Sink, source: string): Promise<void> {
  const known = new Set<string>();
  for await (const file of findSessions([{ path: join(dirname(path), "projects") }]))
    known.add(basename(file.path, ".jsonl"));
  const ghosts = new Map<string, Ghost>();
  await readRecords(path, { ...forwardCounts(sink), message: () => {} }, (record) => {
    const id = asString(record.sessionId);
    const text = readPrompt(record);
    if (!id || known.has(id) || text === "") return sink.skipped();
    const ghost = ghosts.get(id) ?? { messages: [], latest: 0 };
    ghosts.set(id, ghost);
    const createdAt = asTimestamp(record.timestamp);
    const cwd = asString(record.project);
    if (cwd) ghost.cwd ??= cwd;
    ghost.latest = Math.max(ghost.latest, createdAt ? Date.parse(createdAt) : 0);
    if (ghost.messages.length < max.prompts)
      ghost.messages.push({ role: "user", content: text, ...(createdAt && { createdAt }) });
  });
  for (const [id, ghost] of ghosts) if (ghost.latest < Date.now() - settledMs) await send(id, ghost, sink, source);
}

async function send(id: string, { messages, cwd }: Ghost, sink: Sink, source: string): Promise<void> {
  sink.begin(source, id);
  for (const message of messages) sink.message(message);
  const [project, createdAt] = [getProjectName(cwd), messages[0]?.createdAt];
  sink.end({
    ...(project && { project }),
    ...(createdAt && { createdAt }),
    metadata: { ...(cwd && { cwd }), kind: "prompts-only" },
  });
  await sink.pause();
}

const forwardCounts = (sink: Sink) => ({
  entry: (line?: number) => sink.entry(line),
  skipped: () => sink.skipped(),
  invalid: (reason?: string) => sink.invalid(reason),
  pause: () => sink.pause(),
});

function readPrompt({ display, pastedContents }: Fields): string {
  let text = asString(display) ?? "";
  const pasted = isFields(pastedContents) ? Object.values(pastedContents).slice(0, max.pasted) : [];
  for (const one of pasted) {
    if (!isFields(one) || typeof one.content !== "string" || typeof one.id !== "number") continue;
    const place = new RegExp(`\\[Pasted text #${one.id}(?: \\+\\d+ lines)?\\]`);
    text = text.replace(place, () => one.content as string);
  }
  return text.trim() === "" ? "" : text;
}
