import { basename, dirname, isAbsolute, join } from "node:path";
import { type Fields, isFields } from "../../files/json-lines.ts";
import type { Adapter, Host, Message, SearchRoot, Sink } from "../adapter.ts";
import {
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
import { databasesIn, idIn, openDatabase, problemOf, sessionsIn } from "./database.ts";
import { openFolder, type Store, storedIn } from "./json-folder.ts";
import { errorMessages, partMessages, readUsage } from "./parts.ts";

const source = "opencode";

/**
 * OpenCode: folders of JSON files, and since version 1.2 a SQLite database with the same messages and parts, into which it
 * copies what was in the folders. A session that is in both is read from the database.
 *
 * - A message has the tokens of all its steps; each step has its own once more.
 * - Sub-agents have sessions that name their parent.
 * - What was taken back stays until the next prompt: it is told where that begins.
 */
export const opencode: Adapter = {
  name: source,
  title: "OpenCode",
  version: 1,
  diagnose,
  async *discover(host) {
    const known = new Set<string>();
    for (const database of await databasePaths(host)) {
      for (const input of await sessionsIn(database)) {
        const id = idIn(input.path) ?? input.path;
        if (!known.has(id)) yield input;
        known.add(id);
      }
    }
    for await (const input of storedIn(join(folderOf(host), "storage"))) {
      if (!known.has(basename(input.path, ".json"))) yield input;
    }
  },
  async parse({ path }, sink) {
    const store = path.endsWith(".json") ? openFolder(path, sink) : openDatabase(path, sink);
    if (!store) {
      sink.lost(problemOf(path));
      return;
    }
    try {
      const about = await store.session();
      if (!about) return;
      sink.skipped();
      await new Session(sink, about, idIn(path) ?? basename(path, ".json")).read(store);
    } finally {
      store.close();
    }
  },
};

const folderOf = ({ home, env }: Host): string => join(env.XDG_DATA_HOME || join(home, ".local", "share"), "opencode");

function diagnose(host: Host): SearchRoot[] {
  const { XDG_DATA_HOME, OPENCODE_DB } = host.env;
  const roots: SearchRoot[] = [{ path: folderOf(host), ...(XDG_DATA_HOME && { from: "XDG_DATA_HOME" }) }];
  const named = OPENCODE_DB && isAbsolute(OPENCODE_DB);
  return named ? [...roots, { path: dirname(OPENCODE_DB), from: "OPENCODE_DB" }] : roots;
}

async function databasePaths(host: Host): Promise<string[]> {
  const folder = folderOf(host);
  const found = (await databasesIn(folder)).sort().map((name) => join(folder, name));
  const { OPENCODE_DB: named } = host.env;
  if (!named || named === ":memory:") return found;
  const path = isAbsolute(named) ? named : join(folder, named);
  return [path, ...found.filter((one) => one !== path)];
}

class Session {
  readonly #sink: Sink;
  readonly #about: Fields;
  readonly #id: string;
  readonly #usage = new UsageCounter();
  #isOpen = false;
  #model: string | undefined;
  #cwd: string | undefined;
  #createdAt: string | undefined;

  constructor(sink: Sink, about: Fields, id: string) {
    this.#sink = sink;
    this.#id = id;
    this.#about = about;
    this.#cwd = asString(about.directory);
    this.#createdAt = isFields(about.time) ? asTimestamp(about.time.created) : undefined;
  }

  async read(store: Store): Promise<void> {
    const { revert } = this.#about;
    const takenBack = isFields(revert) ? asString(revert.messageID) : undefined;
    for (const id of await store.messageIds()) {
      const info = await store.message(id);
      if (id === takenBack) this.#send(notice("What follows was taken back."));
      if (info) await this.#take(info, id, store);
      await this.#sink.pause();
    }
    this.#end();
  }

  async #take(info: Fields, id: string, store: Store): Promise<void> {
    if (info.role !== "user" && info.role !== "assistant") {
      this.#sink.unhandled(`role.${asString(info.role) ?? "(none)"}`);
      return;
    }
    const createdAt = isFields(info.time) ? asTimestamp(info.time.created) : undefined;
    this.#cwd ??= isFields(info.path) ? asString(info.path.cwd) : undefined;
    let cost = this.#costOf(info, id);
    const say = (message: Message) => {
      this.#send({
        ...(createdAt && { createdAt }),
        ...withMetadata(withUsage(message, cost.usage), { model: cost.model }),
      });
      cost = {};
    };
    for await (const part of store.parts(id)) {
      const messages = partMessages(part, info, (type) => this.#sink.unhandled(type));
      if (messages.length === 0) this.#sink.skipped();
      for (const message of messages) say(message);
    }
    for (const message of errorMessages(info)) say(message);
  }

  /** The model of a message where it is another one than before, and what the message cost. */
  #costOf({ role, modelID, tokens }: Fields, id: string): { model?: string | undefined; usage?: Usage | undefined } {
    if (role !== "assistant") return {};
    const model = asString(modelID);
    const isNew = model !== undefined && model !== this.#model;
    if (isNew) this.#model = model;
    const usage = isFields(tokens) ? this.#usage.add(id, readUsage(tokens)) : undefined;
    return { model: isNew ? model : undefined, usage };
  }

  #send(message: Message): void {
    if (!this.#isOpen) this.#sink.begin(source, this.#id);
    this.#isOpen = true;
    this.#sink.message(message);
  }

  #end(): void {
    if (!this.#isOpen) return;
    const title = asString(this.#about.title);
    const project = projectName(this.#cwd);
    const version = asString(this.#about.version);
    const parent = asString(this.#about.parentID);
    this.#sink.end({
      ...(this.#model && { model: truncate(this.#model, 256) }),
      ...(title && { title: truncate(title, 512) }),
      ...(project && { project }),
      ...(this.#createdAt && { createdAt: this.#createdAt }),
      metadata: {
        ...(this.#cwd && { cwd: this.#cwd }),
        ...(version && { agentVersion: version }),
        ...(parent && { parent }),
        ...(Object.keys(this.#usage.total).length > 0 && { usage: this.#usage.total }),
      },
    });
  }
}
