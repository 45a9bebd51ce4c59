import { basename, delimiter, join } from "node:path";
import { readLines } from "../../files/line-reader.ts";
import type { Host, SearchRoot } from "../adapter.ts";
import { makeFileAdapter } from "../make-adapter.ts";
import { splitFolders } from "../named-folders.ts";
import { listFoldersAbove } from "../search-roots.ts";
import { nameRealFolder } from "../session-files.ts";
import { history, source, Transcript } from "./transcript.ts";

export const specstory = makeFileAdapter({
  name: source,
  title: "SpecStory",
  version: 2,
  getSearchRoots,
  matches: (name) => name.endsWith(".md"),
  async parse(input, sink) {
    const transcript = new Transcript(sink, input);
    await nameRealFolder(input.path, sink);
    await readLines(input.path, (line) => transcript.addLine(line.replace(/\r$/, "")), {
      tooLong: () => transcript.reportTooLong(),
      pause: () => sink.pause(),
    });
    transcript.end();
  },
});

function getSearchRoots(host: Host): SearchRoot[] {
  const named = splitFolders(host, host.env.SPOOR_SPECSTORY, delimiter);
  if (named.length > 0) return named.map((path) => ({ path: toHistoryFolder(path), variable: "SPOOR_SPECSTORY" }));
  return listFoldersAbove(host).map((path) => ({ path: join(path, history) }));
}

const toHistoryFolder = (path: string): string => (basename(path) === "history" ? path : join(path, history));
