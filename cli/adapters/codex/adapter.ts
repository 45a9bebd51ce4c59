import { createHash } from "node:crypto";
import { basename, join } from "node:path";
import { supportsZstd } from "../../files/byte-reader.ts";
import { findFiles, statInput } from "../../files/discovery.ts";
import { readRecords } from "../../files/json-lines.ts";
import type { Adapter, Host, Input, SearchRoot } from "../adapter.ts";
import { findParent, isRollout } from "./parents.ts";
import { Rollout, source } from "./rollout.ts";
import { readTitles } from "./titles.ts";

/**
 * Newer versions record the tokens of each request, older ones running totals. Most events (`event_msg`) repeat an item
 * (`response_item`). A fork begins with its parent's lines, which count only without the parent. A resumed thread has
 * another file, `…ID_PAGE.jsonl`, and becomes its own session.
 */
export const codex: Adapter = {
  name: source,
  title: "Codex CLI",
  version: 7,
  getSearchRoots,
  async *discover(host) {
    const titles = await readTitles(getHome(host));
    const found = new Set<string>();
    for (const { path } of getSearchRoots(host)) {
      for await (const input of findRollouts(path, titles)) {
        if (!found.has(getName(input.path))) yield input;
        found.add(getName(input.path));
      }
    }
  },
  async parse(input, sink) {
    if (isCompressed(input.path) && !supportsZstd()) {
      sink.lost(needsNewerNode);
      return;
    }
    const parent = input.from ? undefined : await findParent(input.path, (folder) => sink.folder(folder));
    const isStored = parent !== undefined && !parent.isThere && input.isStored?.(parent.id) === true;
    const isKnown = isStored && (input.sentVersion?.(parent.id) ?? 0) >= versionWithIds;
    const ancestry = { parentTurns: parent?.turns, countsCopies: !isStored || isKnown };
    const rollout = new Rollout(sink, getName(input.path), ancestry);
    if (input.from) rollout.resume(input.from.state, input.from.messages);
    const end = await readRecords(input.path, sink, (record) => rollout.add(record), { from: input.from });
    const isEnded = !end.isOpen && !isCompressed(input.path);
    const state = isEnded && !sink.ignoresCheckpoints ? rollout.save() : undefined;
    if (state) sink.checkpoint({ offset: end.offset, line: end.line, state });
    const [home] = /^.*(?=[\\/](?:archived_)?sessions[\\/])/.exec(input.path) ?? [];
    rollout.end(home === undefined ? undefined : (await readTitles(home)).get(rollout.threadId));
  },
};

/** Earlier versions sent no ids by which the server could recognize copies. */
const versionWithIds = 7;

const getName = (path: string): string => basename(path).replace(/\.jsonl(?:\.zst)?$/, "");

const getHome = ({ home, env }: Host): string => env.CODEX_HOME || join(home, ".codex");

function getSearchRoots(host: Host): SearchRoot[] {
  const from = host.env.CODEX_HOME ? { variable: "CODEX_HOME" } : {};
  return ["sessions", "archived_sessions"].map((name) => ({ path: join(getHome(host), name), ...from }));
}

async function* findRollouts(folder: string, titles: ReadonlyMap<string, string>): AsyncGenerator<Input> {
  for await (const input of findFiles(folder, isRollout)) {
    if (!isCompressed(input.path)) yield addTitle(input, titles);
    else if (!(await statInput(input.path.slice(0, -".zst".length)))) yield addTitle(markCompressed(input), titles);
  }
}

/** A new name changes the stamp, so that it is sent. */
function addTitle(input: Input, titles: ReadonlyMap<string, string>): Input {
  if (titles.size === 0) return input;
  const [id = ""] = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/i.exec(getName(input.path)) ?? [];
  const title = titles.get(id);
  if (title === undefined) return input;
  return { ...input, stamp: `${input.stamp}:${createHash("sha256").update(title).digest("base64url").slice(0, 12)}` };
}

/** The stamp differs without zstd, so that a newer Node reads the file again. */
const markCompressed = (input: Input): Input =>
  supportsZstd() ? input : { ...input, stamp: `${input.stamp}:packed`, needsNewerNode: true };

const isCompressed = (path: string): boolean => path.endsWith(".zst");

const needsNewerNode = `files compressed with zstd need Node 22.15 or later; this is Node ${process.versions.node}`;
