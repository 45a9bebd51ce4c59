import type { Fields } from "../../files/json.ts";
import { readRecords } from "../../files/json-lines.ts";
import type { Input, Sink } from "../adapter.ts";
import { withoutCounts } from "../sinks.ts";
import { findGone } from "./family/family.ts";
import { findAgentsOriginals, findOriginals, findUuids } from "./family/forks.ts";
import { getSiblingSummaries, readHead } from "./family/heads.ts";
import type { SessionIdentity } from "./identity.ts";
import { isRequestLine } from "./line-types.ts";
import type { Dialect } from "./messages.ts";
import { SavedOutputs } from "./saved-outputs.ts";
import { ClaudeSession, type ClaudeSurroundings } from "./session.ts";

export async function parseSession(
  input: Input,
  sink: Sink,
  dialect: Dialect,
  identity: SessionIdentity,
): Promise<void> {
  const hasSidechain = await parseOne(input, sink, dialect, { identity, wanted: identity.isAgent ? "all" : "main" });
  if (!hasSidechain) return;
  const { from: _, ...whole } = input;
  await parseOne(whole, withoutCounts(sink), dialect, { identity: { ...identity, isSidechain: true }, wanted: "side" });
}

type FilePart = { identity: SessionIdentity; wanted: "main" | "side" | "all" };

/** Returns whether lines of a sidechain were left out. */
async function parseOne(input: Input, sink: Sink, dialect: Dialect, { identity, wanted }: FilePart): Promise<boolean> {
  const { path, from } = input;
  const { folder } = readHead(path);
  if (folder !== undefined) sink.folder(folder); // It may end the reading before other files are read.
  const session = new ClaudeSession(sink, dialect, identity, await findSurroundings(input, wanted), from);
  let hasSidechain = false;
  const counts = {
    entry: (line?: number) => sink.entry(line),
    skipped: () => sink.skipped(),
    invalid: (reason?: string) => sink.invalid(reason),
    pause: () => sink.pause(),
    message: session.addMessage,
  };
  const end = await readRecords(path, counts, takeLine, { from, isSkipped: isRequestLine });
  const missing = session.titles.listMissingLines();
  if (missing.size > 0) session.titles.noteFoundLines(await findUuids(path, missing));
  const state = hasSidechain || end.isOpen || sink.ignoresCheckpoints ? undefined : session.save();
  if (state) sink.checkpoint({ offset: end.offset, line: end.line, state });
  session.end();
  return wanted === "main" && hasSidechain;

  function takeLine(record: Fields): void {
    const isSide = record.isSidechain === true;
    hasSidechain ||= isSide && (record.type === "user" || record.type === "assistant");
    if (wanted !== "all" && isSide !== (wanted === "side")) return;
    session.add(record);
  }
}

async function findSurroundings({ path, isStored }: Input, wanted: FilePart["wanted"]): Promise<ClaudeSurroundings> {
  const outputs = new SavedOutputs(path);
  if (wanted === "all")
    return { originals: await findAgentsOriginals(path), stored: new Set(), summaries: new Map(), outputs };
  const stored = new Set((isStored ? await findGone(path) : []).filter((id) => isStored?.(id)));
  if (wanted === "side")
    return { originals: await findOriginals(path, "/sidechain"), stored, summaries: new Map(), outputs };
  return { originals: await findOriginals(path), stored, summaries: getSiblingSummaries(path), outputs };
}
