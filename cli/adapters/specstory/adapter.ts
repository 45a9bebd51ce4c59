import { basename, delimiter, dirname, join, parse } from "node:path";
import { findFiles } from "../../files/discovery.ts";
import { readLines } from "../../files/line-reader.ts";
import type { Adapter, Host, SearchRoot } from "../adapter.ts";
import { splitFolders } from "../named-folders.ts";
import { nameRealFolder } from "../real-folder.ts";
import { history, source, Transcript } from "./transcript.ts";

/**
 * SpecStory: Markdown transcripts of other agents' sessions, in a project's folder.
 *
 * - A heading such as `_**Agent (MODEL TIME)**_` begins each message. Inside a fence, a thought or a tool's output it is text;
 *   so is a sub-agent's (`_**Agent - sidechain (…)**_`), which belongs to the tool call before it.
 * - Tools and thoughts have markup inside the message, which the reader knows (docs/trace-format.md).
 * - There are no token counts. Times without a time zone are dropped.
 */
export const specstory: Adapter = {
  name: source,
  title: "SpecStory",
  version: 2,
  searchRoots,
  async *discover(host) {
    for (const { path } of searchRoots(host)) yield* findFiles(path, (name) => name.endsWith(".md"));
  },
  async parse(input, sink) {
    const transcript = new Transcript(sink, input);
    await nameRealFolder(input.path, sink);
    await readLines(input.path, (line) => transcript.addLine(line.replace(/\r$/, "")), {
      tooLong: () => transcript.reportTooLong(),
      pause: () => sink.pause(),
    });
    transcript.end();
  },
};

/** The projects in SPOOR_SPECSTORY, else the current folder and those above it, up to the home folder. */
function searchRoots(host: Host): SearchRoot[] {
  const { home, cwd, env } = host;
  const named = splitFolders(host, env.SPOOR_SPECSTORY, delimiter);
  if (named.length > 0) return named.map((path) => ({ path: historyFolder(path), variable: "SPOOR_SPECSTORY" }));
  const folders: string[] = [];
  for (let folder: string | undefined = cwd; folder !== undefined; folder = getParent(folder, home))
    folders.push(folder);
  return folders.map((path) => ({ path: join(path, history) }));
}

/** Accepts a project's folder and the history folder itself. */
const historyFolder = (path: string): string => (basename(path) === "history" ? path : join(path, history));

function getParent(folder: string, home: string): string | undefined {
  return folder === home || folder === parse(folder).root ? undefined : dirname(folder);
}
