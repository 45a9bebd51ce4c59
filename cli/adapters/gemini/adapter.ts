import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { findFiles, isMissingOrForbidden, listFolder } from "../../files/discovery.ts";
import { type Fields, isFields, parseJson, readRecords, readWholeFile } from "../../files/json-lines.ts";
import { readJsonFile } from "../../files/state-files.ts";
import type { Adapter, Host, Input, Message, SearchRoot, Sink } from "../adapter.ts";
import {
  asCount,
  asString,
  asTimestamp,
  notice,
  projectName,
  truncate,
  type Usage,
  UsageCounter,
  withMetadata,
  withUsage,
} from "../metadata.ts";
import { withoutCounts } from "../uncounted-sink.ts";
import { GeminiMessages } from "./messages.ts";
import { InOrder, Plan } from "./replay.ts";

const source = "gemini-cli";

/**
 * Gemini CLI: a file for each session in `tmp/PROJECT/chats`, where PROJECT is a name or the hash of the project's folder.
 *
 * - The newer ones are logs of JSON lines, read twice: gemini-replay.ts.
 * - The older ones are one JSON text; a session that goes on after an update is copied into a log beside it, which has all
 *   of it. Their program began a new file for the same session after a compression: the later one is a session of its own.
 * - Sub-agents have logs in a folder with the name of the session that they work for.
 * - A message has its own tokens, and is counted in its last version alone.
 */
export const gemini: Adapter = {
  name: source,
  title: "Gemini CLI",
  version: 1,
  diagnose,
  async *discover(host) {
    for (const { path } of diagnose(host)) {
      for (const project of await listFolder(path)) {
        if (project.isDirectory()) yield* recordingsIn(join(path, project.name, "chats"));
      }
    }
  },
  async parse(input, sink) {
    const read = await opened(input, sink);
    if (!read) return;
    const plan = new Plan();
    await read(sink, (record, at) => count(plan.take(record, at), sink));
    if (!plan.hasTalk) return;
    const session = new Session(sink, plan.meta, await identityOf(input, plan.meta));
    const inOrder = new InOrder(plan.order(), (record) => session.say(record));
    await read(withoutCounts(sink), (record, at) => {
      for (const [key, said] of plan.due(record, at)) inOrder.add(key, said);
    });
    inOrder.end();
    session.end(await projectFolderOf(input.path));
  },
};

function diagnose({ home, env }: Host): SearchRoot[] {
  const named = env.GEMINI_CLI_HOME;
  return [{ path: join(named || home, ".gemini", "tmp"), ...(named && { from: "GEMINI_CLI_HOME" }) }];
}

async function* recordingsIn(chats: string): AsyncGenerator<Input> {
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

type Read = (sink: Sink, handle: (record: Fields, at: number) => void) => Promise<void>;

/** How an input is read, as often as needed; undefined where it can't be, which is counted. */
async function opened({ path }: Input, sink: Sink): Promise<Read | undefined> {
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
    // One that is just being written is whole the next time.
    sink.entry();
    sink.invalid();
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

function count(became: ReturnType<Plan["take"]>, sink: Sink): void {
  if (became === "invalid") sink.invalid();
  else if (became !== "message") sink.skipped();
  if (typeof became === "object") sink.unhandled(became.unknown);
}

type Identity = { sourceId: string; sessionId: string; parent?: string };

async function identityOf({ path }: Input, meta: Fields): Promise<Identity> {
  const name = basename(path).replace(/\.jsonl?$/, "");
  const sessionId = asString(meta.sessionId) ?? name;
  const folder = dirname(path);
  const parent = basename(folder) === "chats" ? undefined : basename(folder);
  if (parent) return { sourceId: `${parent}/${name}`, sessionId, parent };
  const isLater = path.endsWith(".json") && (await isContinued(folder, name));
  return { sourceId: isLater ? `${sessionId}/${name}` : sessionId, sessionId };
}

/** Whether an earlier file is of the same session: their names are `session-MINUTE-ID`, with the id's first eight characters. */
async function isContinued(folder: string, name: string): Promise<boolean> {
  const [id] = /-[0-9a-f]{8}\.json$/.exec(`${name}.json`) ?? [];
  if (!id) return false;
  return (await listFolder(folder)).some((entry) => entry.name.endsWith(id) && entry.name < `${name}.json`);
}

/** The folder of the project whose recording a file is, where its program has noted it. */
async function projectFolderOf(path: string): Promise<string | undefined> {
  let chats = dirname(path);
  while (basename(chats) !== "chats" && dirname(chats) !== chats) chats = dirname(chats);
  const project = dirname(chats);
  const noted = await textOf(join(project, ".project_root"));
  if (noted) return noted;
  const registry = await readJsonFile(join(dirname(dirname(project)), "projects.json"));
  const projects = isFields(registry) && isFields(registry.projects) ? registry.projects : {};
  const name = basename(project);
  const [folder] = Object.entries(projects).find(([root, slug]) => slug === name || hashOf(root) === name) ?? [];
  return folder;
}

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");

async function textOf(path: string): Promise<string> {
  try {
    return (await readFile(path, "utf8")).trim();
  } catch (error) {
    if (isMissingOrForbidden(error)) return "";
    throw error;
  }
}

class Session {
  readonly #sink: Sink;
  readonly #meta: Fields;
  readonly #identity: Identity;
  readonly #messages: GeminiMessages;
  readonly #usage = new UsageCounter();
  #isOpen = false;
  #model: string | undefined;
  #createdAt: string | undefined;

  constructor(sink: Sink, meta: Fields, identity: Identity) {
    this.#sink = sink;
    this.#meta = meta;
    this.#identity = identity;
    this.#messages = new GeminiMessages(identity.sessionId, (type) => sink.unhandled(type));
    this.#createdAt = asTimestamp(meta.startTime);
  }

  say(record: Fields): void {
    const createdAt = asTimestamp(record.timestamp);
    const messages = record.type === "rewind" ? [rewound(record.turns)] : this.#messages.of(record);
    const usage = isFields(record.tokens)
      ? this.#usage.add(asString(record.id) ?? "", readUsage(record.tokens))
      : undefined;
    const model = asString(record.model);
    const isNewModel = model !== undefined && model !== this.#model && messages.length > 0;
    if (isNewModel) this.#model = model;
    this.#createdAt ??= createdAt;
    for (const [index, message] of messages.entries()) {
      const told =
        index === 0 ? withMetadata(withUsage(message, usage), { model: isNewModel ? model : undefined }) : message;
      this.#send(createdAt ? { createdAt, ...told } : told);
    }
  }

  #send(message: Message): void {
    if (!this.#isOpen) this.#sink.begin(source, this.#identity.sourceId);
    this.#isOpen = true;
    this.#sink.message(message);
  }

  end(folder: string | undefined): void {
    if (!this.#isOpen) return;
    const { summary, directories, kind } = this.#meta;
    const [first] = kind === "subagent" && Array.isArray(directories) ? directories : [];
    const cwd = folder ?? asString(first);
    const project = projectName(cwd);
    const title = asString(summary);
    const { parent } = this.#identity;
    this.#sink.end({
      ...(this.#model && { model: truncate(this.#model, 256) }),
      ...(title && { title: truncate(title, 512) }),
      ...(project && { project }),
      ...(this.#createdAt && { createdAt: this.#createdAt }),
      metadata: {
        ...(cwd && { cwd }),
        ...(parent && { parent }),
        ...(Object.keys(this.#usage.total).length > 0 && { usage: this.#usage.total }),
      },
    });
  }
}

const rewound = (turns: unknown): Message =>
  notice(turns === 1 ? "The last turn was taken back." : `The last ${Number(turns)} turns were taken back.`);

/** `input` has what a cache had in it; thoughts are tokens that the model made, beside its `output`. */
function readUsage(tokens: Fields): Usage {
  const [input = 0, output = 0, cached = 0, thoughts = 0, tool = 0] = [
    tokens.input,
    tokens.output,
    tokens.cached,
    tokens.thoughts,
    tokens.tool,
  ].map((value) => asCount(value) ?? 0);
  return {
    inputTokens: Math.max(0, input - cached) + tool,
    outputTokens: output + thoughts,
    cacheReadTokens: cached,
    reasoningTokens: thoughts,
  };
}
