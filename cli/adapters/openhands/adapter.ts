import { basename, dirname, join } from "node:path";
import { findFiles, listFolder, statInput } from "../../files/discovery.ts";
import { isFields } from "../../files/json.ts";
import { readJsonFile } from "../../files/state-files.ts";
import type { Adapter, Host, Input, SearchRoot } from "../adapter.ts";
import { getHomeRoot } from "../search-roots.ts";
import { readObjectFile } from "../session-files.ts";
import { asFields } from "../values.ts";
import { OpenHandsSession, source } from "./session.ts";

const stateName = "base_state.json";
const eventFile = /^event-\d{5,}-.+\.json$/;

export const openhands: Adapter = {
  name: source,
  title: "OpenHands",
  version: 2,
  getSearchRoots,
  async *discover(host) {
    for (const { path } of getSearchRoots(host)) {
      for await (const input of findFiles(path, (name) => name === stateName)) yield await withEvents(input);
    }
  },
  async parse({ path }, sink) {
    const folder = dirname(path);
    sink.entry();
    const state = await readJsonFile(path);
    if (isFields(state)) sink.skipped();
    else sink.invalid(`${stateName} is not a JSON object`);
    const session = new OpenHandsSession(sink, basename(folder), asFields(state));
    for (const name of await listEvents(folder)) {
      const event = await readObjectFile(join(folder, "events", name), sink);
      if (event) session.add(event);
      await sink.pause();
    }
    session.end();
  },
};

async function listEvents(folder: string): Promise<string[]> {
  const names = (await listFolder(join(folder, "events")))
    .map(({ name }) => name)
    .filter((name) => eventFile.test(name));
  const parseNumber = (name: string) => Number.parseInt(name.slice("event-".length), 10);
  return names.sort((a, b) => parseNumber(a) - parseNumber(b) || (a < b ? -1 : 1));
}

async function withEvents(input: Input): Promise<Input> {
  const folder = dirname(input.path);
  const names = await listEvents(folder);
  const last = names.at(-1);
  const latest = last === undefined ? undefined : await statInput(join(folder, "events", last));
  return {
    ...input,
    modifiedAt: Math.max(input.modifiedAt, latest?.modifiedAt ?? 0),
    stamp: [input.stamp, names.length, last, latest?.stamp].join(" "),
  };
}

function getSearchRoots(host: Host): SearchRoot[] {
  return [
    host.env.OPENHANDS_CONVERSATIONS_DIR
      ? getHomeRoot(host, "OPENHANDS_CONVERSATIONS_DIR", "")
      : getHomeRoot(host, "OPENHANDS_PERSISTENCE_DIR", ".openhands", "conversations"),
  ];
}
