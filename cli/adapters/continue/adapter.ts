import { basename, dirname, join } from "node:path";
import { cacheByStamp } from "../../files/file-cache.ts";
import { type Fields, isFields, parseJson } from "../../files/json.ts";
import { readJsonItems } from "../../files/json-items.ts";
import { makeFileAdapter } from "../make-adapter.ts";
import { getHomeRoot } from "../search-roots.ts";
import { SessionBuilder } from "../session-builder.ts";
import { readMessageFile } from "../session-files.ts";
import { silentSink } from "../sinks.ts";
import { asFields, asString, parseUriPath } from "../values.ts";
import { findCopied } from "./forks.ts";
import { History, readUsage, source } from "./history.ts";

export const continueDev = makeFileAdapter({
  name: source,
  title: "Continue",
  version: 3,
  getSearchRoots: (host) => [getHomeRoot(host, "CONTINUE_GLOBAL_DIR", ".continue", "sessions")],
  matches: (name) => name.endsWith(".json") && name !== "sessions.json",
  async parse({ path }, sink) {
    const session = new SessionBuilder(sink, source, basename(path, ".json"));
    const dates = await readDates(join(dirname(path), "sessions.json"));
    session.noteTime(dates.get(session.id));
    const copied = await findCopied(path, dates);
    session.note("forkedFrom", copied?.from);
    const history = new History(sink, session);
    const details = await readMessageFile(path, ["history"], sink, (item, number) =>
      history.add(item, { isReplayed: number <= (copied?.count ?? 0) }),
    );
    noteDetails(session, details ?? {}, history.hasUsage);
    session.end();
  },
});

const readDates = cacheByStamp(async (path) => {
  const dates = new Map<string, number>();
  const item = (json: string) => {
    const { sessionId, dateCreated } = asFields(parseJson(json));
    const [id, at] = [asString(sessionId), Number(dateCreated)];
    if (id !== undefined && Number.isSafeInteger(at)) dates.set(id, at);
  };
  await readJsonItems(path, { list: [], item }, silentSink);
  return dates;
}, new Map<string, number>());

const untitled = new Set(["New Session", "Untitled Session"]);

function noteDetails(session: SessionBuilder, details: Fields, hasUsage: boolean): void {
  const title = asString(details.title);
  if (title && !untitled.has(title)) session.noteTitle(title);
  session.noteFolder(parseUriPath(details.workspaceDirectory) ?? details.workspaceDirectory);
  if (isFields(details.usage)) session.noteCost(details.usage.totalCost);
  const usage = hasUsage ? undefined : readUsage(details.usage);
  if (usage) session.addUsage(usage);
}
