import { basename, dirname, join } from "node:path";
import { findFiles, listFolder, statInput } from "../../files/discovery.ts";
import { isFields, parseJson } from "../../files/json.ts";
import { readWholeFile } from "../../files/json-lines.ts";
import { readJsonFile } from "../../files/state-files.ts";
import type { Adapter, Host, Input, SearchRoot, Sink } from "../adapter.ts";
import { OpenHandsSession, source } from "./session.ts";

const stateName = "base_state.json";
const eventFile = /^event-\d{5,}-.+\.json$/;

/**
 * OpenHands: a folder for each conversation, with its state and a JSON file for each event, which is never written again.
 *
 * - An answer's calls and words name the response that they came in; the state has the tokens of each.
 * - Times are the machine's, without their zone.
 */
export const openhands: Adapter = {
  name: source,
  title: "OpenHands",
  version: 2,
  searchRoots,
  async *discover(host) {
    for (const { path } of searchRoots(host)) {
      for await (const input of findFiles(path, (name) => name === stateName)) yield await withEvents(input);
    }
  },
  async parse({ path }, sink) {
    const folder = dirname(path);
    sink.entry();
    const state = await readJsonFile(path);
    if (isFields(state)) sink.skipped();
    else sink.invalid(`${stateName} is not a JSON object`);
    const session = new OpenHandsSession(sink, basename(folder), isFields(state) ? state : {});
    for (const name of await eventsIn(folder)) {
      await readEvent(join(folder, "events", name), session, sink);
      await sink.pause();
    }
    session.end();
  },
};

async function readEvent(path: string, session: OpenHandsSession, sink: Sink): Promise<void> {
  sink.entry();
  const text = await readWholeFile(path, sink);
  const event = text === undefined ? undefined : parseJson(text);
  if (isFields(event)) session.add(event);
  else sink.invalid(`${basename(path)} is not a JSON object`);
}

/** Their names begin with their number, which is as long as it has to be. */
async function eventsIn(folder: string): Promise<string[]> {
  const names = (await listFolder(join(folder, "events")))
    .map(({ name }) => name)
    .filter((name) => eventFile.test(name));
  const parseNumber = (name: string) => Number.parseInt(name.slice("event-".length), 10);
  return names.sort((a, b) => parseNumber(a) - parseNumber(b) || (a < b ? -1 : 1));
}

/** A conversation changes with its state, and with each event that comes. */
async function withEvents(input: Input): Promise<Input> {
  const folder = dirname(input.path);
  const names = await eventsIn(folder);
  const last = names.at(-1);
  const latest = last === undefined ? undefined : await statInput(join(folder, "events", last));
  return {
    ...input,
    modifiedAt: Math.max(input.modifiedAt, latest?.modifiedAt ?? 0),
    stamp: [input.stamp, names.length, last, latest?.stamp].join(" "),
  };
}

function searchRoots({ home, env }: Host): SearchRoot[] {
  const { OPENHANDS_CONVERSATIONS_DIR: conversations, OPENHANDS_PERSISTENCE_DIR: all } = env;
  if (conversations) return [{ path: conversations, variable: "OPENHANDS_CONVERSATIONS_DIR" }];
  if (all) return [{ path: join(all, "conversations"), variable: "OPENHANDS_PERSISTENCE_DIR" }];
  return [{ path: join(home, ".openhands", "conversations") }];
}
