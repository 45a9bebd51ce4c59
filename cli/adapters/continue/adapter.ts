import { basename, dirname, join } from "node:path";
import { findFiles, statInput } from "../../files/discovery.ts";
import { type Fields, isFields, parseJson } from "../../files/json.ts";
import { readJsonItems } from "../../files/json-items.ts";
import type { Adapter, Host, SearchRoot } from "../adapter.ts";
import { SessionBuilder } from "../session-builder.ts";
import { uriPath } from "../uri.ts";
import { asString } from "../values.ts";
import { findCopied } from "./forks.ts";
import { History, readUsage, source } from "./history.ts";

/**
 * Continue: a JSON file for each session, rewritten whole, and a list of all with their dates.
 *
 * Messages have no times. Calls and their results are noted with the answer that made them.
 */
export const continueDev: Adapter = {
  name: source,
  title: "Continue",
  version: 3,
  searchRoots,
  async *discover(host) {
    for (const { path } of searchRoots(host)) {
      yield* findFiles(path, (name) => name.endsWith(".json") && name !== "sessions.json");
    }
  },
  async parse({ path }, sink) {
    const session = new SessionBuilder(sink, source, basename(path, ".json"));
    const dates = await readDates(join(dirname(path), "sessions.json"));
    session.noteTime(dates.get(session.id));
    const copied = await findCopied(path, dates);
    session.note("forkedFrom", copied?.from);
    const history = new History(sink, session);
    let details: Fields | undefined;
    const isComplete = await readJsonItems(
      path,
      {
        list: ["history"],
        item(json, number) {
          sink.entry(number);
          const item = parseJson(json);
          if (isFields(item)) history.add(item, { isReplayed: number <= (copied?.count ?? 0) });
          else sink.invalid("not a message");
        },
        rest(json) {
          const value = parseJson(json);
          if (isFields(value)) details = value;
        },
      },
      { tooLong: (number) => sink.lost(`message ${number} is too long`), pause: () => sink.pause() },
    );
    if (!isComplete || !details) {
      sink.entry();
      sink.invalid(`${basename(path)} is cut off, or no session`);
    }
    noteDetails(session, details ?? {}, history.hasUsage);
    session.end();
  },
};

function searchRoots({ home, env }: Host): SearchRoot[] {
  const named = env.CONTINUE_GLOBAL_DIR;
  const folder = named || join(home, ".continue");
  return [{ path: join(folder, "sessions"), ...(named && { variable: "CONTINUE_GLOBAL_DIR" }) }];
}

/** When sessions began, by their ids; read once for each version of the list. */
const lists = new Map<string, { stamp: string; dates: Map<string, number> }>();

async function readDates(path: string): Promise<Map<string, number>> {
  const file = await statInput(path);
  const known = lists.get(path);
  if (!file || known?.stamp === file.stamp) return known?.dates ?? new Map();
  const dates = new Map<string, number>();
  const item = (json: string) => {
    const one = parseJson(json);
    const id = isFields(one) ? asString(one.sessionId) : undefined;
    const at = isFields(one) ? Number(one.dateCreated) : Number.NaN;
    if (id !== undefined && Number.isSafeInteger(at)) dates.set(id, at);
  };
  await readJsonItems(path, { list: [], item }, { tooLong() {}, pause: async () => {} });
  lists.set(path, { stamp: file.stamp, dates });
  return dates;
}

/** Titles that Continue gives to sessions which have none. */
const untitled = new Set(["New Session", "Untitled Session"]);

function noteDetails(session: SessionBuilder, details: Fields, hasUsage: boolean): void {
  const title = asString(details.title);
  if (title && !untitled.has(title)) session.noteTitle(title);
  session.noteFolder(uriPath(details.workspaceDirectory) ?? details.workspaceDirectory);
  if (isFields(details.usage)) session.noteCost(details.usage.totalCost);
  const usage = hasUsage ? undefined : readUsage(details.usage);
  if (usage) session.addUsage(usage);
}
