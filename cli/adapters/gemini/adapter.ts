import { basename, dirname, join } from "node:path";
import { findFiles, listFolder } from "../../files/discovery.ts";
import { type Fields, isFields, parseJson } from "../../files/json.ts";
import { readRecords, readWholeFile } from "../../files/json-lines.ts";
import type { Adapter, Host, Input, SearchRoot, Sink } from "../adapter.ts";
import { Reorderer } from "../reorderer.ts";
import { getHomeRoot } from "../search-roots.ts";
import { withoutCounts } from "../sinks.ts";
import { asString } from "../values.ts";
import { findProjectFolder, readProjects } from "./projects.ts";
import { ReplayPlan } from "./replay.ts";
import { GeminiSession, type RecordingIdentity, source } from "./session.ts";

/**
 * Newer files are logs, read twice (replay.ts), older ones one JSON text. Older versions began a new file for the same
 * session after a compression, which becomes a separate session. `--resume` begins a log with the context alone, which
 * is no session.
 */
export const gemini: Adapter = {
  name: source,
  title: "Gemini CLI",
  version: 7,
  getSearchRoots,
  async *discover(host) {
    for (const { path } of getSearchRoots(host)) {
      for (const project of await listFolder(path)) {
        if (project.isDirectory()) yield* findRecordings(join(path, project.name, "chats"));
      }
    }
  },
  async parse(input, sink) {
    const known = await readProjects(input.path);
    const folder = findProjectFolder(known, [known.name]);
    if (folder) sink.folder(folder);
    const read = await openRecording(input, sink);
    if (!read) return;
    const plan = new ReplayPlan();
    await read(sink, (record, at) => countRecord(plan.add(record, at), sink));
    if (!plan.hasMessages) return;
    const identity = await findIdentity(input, plan.meta);
    if (identity.continues && !plan.hasOwnMessages) return;
    const session = new GeminiSession(
      sink,
      plan.meta,
      identity,
      folder ?? findProjectFolder(known, [plan.meta.projectHash]),
    );
    const order = plan.makeOrder();
    const reorderer = new Reorderer(maxWaiting, (record) => session.add(record));
    await read(withoutCounts(sink), (record, at) => {
      for (const [key, message] of plan.readMessagesAt(record, at)) reorderer.add(order.get(key), message);
    });
    reorderer.end();
    session.end();
  },
};

/** Later records are sent without waiting any longer. */
const maxWaiting = 20;

function getSearchRoots(host: Host): SearchRoot[] {
  return [getHomeRoot(host, "GEMINI_CLI_HOME", "", ".gemini", "tmp")];
}

async function* findRecordings(chats: string): AsyncGenerator<Input> {
  const logs = new Set<string>();
  const wholes: Input[] = [];
  for await (const input of findFiles(chats, (name) => /\.jsonl?$/.test(name))) {
    if (input.path.endsWith(".json")) wholes.push(input);
    else {
      logs.add(input.path);
      yield input;
    }
  }
  for (const input of wholes) if (!logs.has(`${input.path}l`)) yield input;
}

type ReadRecords = (sink: Sink, handle: (record: Fields, at: number) => void) => Promise<unknown>;

async function openRecording({ path }: Input, sink: Sink): Promise<ReadRecords | undefined> {
  if (path.endsWith(".jsonl")) {
    return (to, handle) => {
      let at = 0;
      return readRecords(path, to, (record) => handle(record, at++));
    };
  }
  const text = await readWholeFile(path, sink);
  if (text === undefined) return undefined;
  const whole = parseJson(text);
  if (!isFields(whole) || !Array.isArray(whole.messages)) {
    sink.entry();
    sink.invalid("not a recording");
    return undefined;
  }
  const { messages, ...meta } = whole;
  const records: unknown[] = [meta, ...messages];
  return async (to, handle) => {
    for (const [at, record] of records.entries()) {
      to.entry();
      if (isFields(record)) handle(record, at);
      else to.invalid();
    }
  };
}

function countRecord(kind: ReturnType<ReplayPlan["add"]>, sink: Sink): void {
  if (kind === "invalid") sink.invalid();
  else if (kind !== "message") sink.skipped();
  if (typeof kind === "object") sink.unhandled(kind.unknown);
}

async function findIdentity({ path }: Input, meta: Fields): Promise<RecordingIdentity> {
  const name = basename(path).replace(/\.jsonl?$/, "");
  const sessionId = asString(meta.sessionId) ?? name;
  const folder = dirname(path);
  const parent = basename(folder) === "chats" ? undefined : basename(folder);
  if (parent) return { sourceId: `${parent}/${name}`, sessionId, parent };
  const earlier = await findEarlierFiles(folder, name);
  const before = earlier.at(-1);
  if (before === undefined) return { sourceId: sessionId, sessionId };
  const continues = earlier.length === 1 ? sessionId : `${sessionId}/${before}`;
  return { sourceId: `${sessionId}/${name}`, sessionId, continues };
}

/** Names are `session-MINUTE-ID`, with the id's first eight characters. */
async function findEarlierFiles(folder: string, name: string): Promise<string[]> {
  const [id] = /-[0-9a-f]{8}$/.exec(name) ?? [];
  if (!id) return [];
  const names = (await listFolder(folder)).map((entry) => entry.name.replace(/\.jsonl?$/, ""));
  return [...new Set(names)].filter((entry) => entry.endsWith(id) && entry < name).sort();
}
