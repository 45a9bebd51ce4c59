import { limits } from "#lib/core/limits";
import type { Call, ToolResult } from "#lib/transcript/call";
import { countChangedLines, type FileChange, listChanges, reportedChanges } from "#lib/transcript/files/changed";
import { type LineCounts, newEffort } from "#lib/transcript/files/line-diff";
import { projectPath, readPlace, type SessionFolders } from "#lib/transcript/files/paths";
import { listReads } from "#lib/transcript/files/reads";
import { shellChanges } from "#lib/transcript/files/shell";
import type { PartKind, ReaderMessage } from "#lib/transcript/message";
import { readOutcome } from "#lib/transcript/outcome";
import { makePairing, type Placed } from "#lib/transcript/pairing";
import { plainCall } from "#lib/transcript/script";
import { findToolKind, plainName } from "#lib/transcript/vocabulary";

type Action = "read" | "edit" | "write" | "delete";

export type Touch = { position: number; path: string; action: Action } & LineCounts & TouchOrigin;
type TouchOrigin = Pick<Placed, "createdAt" | "isCopy"> & { callId: string | undefined };

export type TouchingSession = { source: string; metadata: Record<string, unknown> | null };

export const maxTouches = limits.traces.fileRows;

/** These agents rarely store results: a call counts as carried out once the session continues. */
const withoutResults = new Set(["cursor"]);
export const leavesOutResults = ({ source }: TouchingSession): boolean => withoutResults.has(source);

const getCallKind = ({ kind, name, type }: Call): PartKind => kind ?? findToolKind(name, type);
const touching = new Set<PartKind>(["edit", "write", "read", "shell"]);

const mayTouch = (call: Call): boolean => touching.has(getCallKind(call)); // `exec` is a shell, whatever its script calls

function listTouches(placed: Placed, result: ToolResult | undefined, place: SessionFolders, isOver = false) {
  const { position, folder, createdAt, isCopy } = placed;
  const ofCall: TouchOrigin = { createdAt, isCopy, callId: placed.call.callId };
  const call = plainCall(placed.call);
  const kind = getCallKind(call);
  if (!touching.has(kind) || !isDone(kind, result, isOver)) return [];
  const byPath = new Map<string, Touch>();
  const add = (written: string, action: Action, counts: LineCounts, at: string | undefined) => {
    const path = projectPath(written, place, at);
    if (path === undefined || written.trim() === "") return;
    const known = byPath.get(path) ?? { position, path, action, added: 0, removed: 0, ...ofCall };
    byPath.set(path, known);
    if (action !== "read") known.action = action;
    known.added += counts.added;
    known.removed += counts.removed;
  };
  const effort = newEffort();
  for (const { change, folder: at } of changesIn({ ...placed, call }, result))
    add(change.path, change.action, countChangedLines(change, effort), at);
  for (const path of listReads(call, result, kind)) add(path, "read", none, folder);
  return [...byPath.values()];
}

type Made = { change: FileChange; folder: string | undefined };

function changesIn({ call, folder }: Placed, result: ToolResult | undefined): Made[] {
  const kind = getCallKind(call);
  if (kind === "edit" || kind === "write")
    return listChanges(call, result, kind === "write").map((change) => ({ change, folder }));
  if (kind !== "shell") return [];
  const reported = reportedChanges(result);
  if (reported) return reported.map((change) => ({ change, folder }));
  return shellChanges(call.name, call.input, result ? readOutcome(result).output : "").flatMap((change) => {
    const at = change.folder ?? folder;
    const isKnown =
      startsInFolder.has(plainName(call.name)) || absolute.test(at ?? change.path) || absolute.test(change.path);
    return isKnown ? [{ change, folder: at }] : [];
  });
}

export function changesMade(placed: Placed, result: ToolResult | undefined, isOver: boolean): Made[] {
  const call = plainCall(placed.call);
  return isDone(getCallKind(call), result, isOver) ? changesIn({ ...placed, call }, result) : [];
}

/** A command's reported changes count even if the command then failed. */
function isDone(kind: PartKind, result: ToolResult | undefined, isOver: boolean): boolean {
  if (!result) return isOver;
  return readOutcome(result).status === "ok" || (kind === "shell" && reportedChanges(result) !== undefined);
}

const absolute = /^(?:[\\/~]|[A-Za-z]:[\\/])/;
const none = { added: 0, removed: 0 };

const startsInFolder = new Set(
  "execcommand shell localshell localshellcall shellcommand runshellcommand exec".split(" "),
);

export function makeTouching(session: TouchingSession) {
  const place = readPlace(session.metadata);
  const isLeftOut = leavesOutResults(session);
  const touched: Touch[] = [];
  let last = -1;
  return {
    see(position: number): void {
      last = position;
    },
    take(placed: Placed, result: ToolResult | undefined): void {
      if (touched.length < 2 * maxTouches)
        touched.push(...listTouches(placed, result, place, isLeftOut && placed.position < last));
    },
    touches(waiting: Placed[]): Touch[] {
      const more = isLeftOut ? waiting : [];
      const open = more.flatMap((placed) => listTouches(placed, undefined, place, placed.position < last));
      return inOrder([...touched, ...open]).slice(0, maxTouches);
    },
  };
}

function inOrder(touches: Touch[]): Touch[] {
  const byPlace = new Map<string, Touch>();
  for (const touch of touches) {
    const place = `${touch.position} ${touch.path}`;
    const known = byPlace.get(place);
    byPlace.set(place, known ? joined(known, touch) : touch);
  }
  return [...byPlace.values()].sort((a, b) => a.position - b.position);
}

const joined = (one: Touch, other: Touch): Touch => ({
  ...one,
  action: other.action === "read" ? one.action : other.action,
  added: one.added + other.added,
  removed: one.removed + other.removed,
});

export type FileReader = {
  add(message: ReaderMessage): void;
  /** The position of the first call that waits for its result. */
  openFrom(): number | undefined;
  touches(): Touch[];
};

export function makeFileReader(session: TouchingSession): FileReader {
  const touching = makeTouching(session);
  const pairing = makePairing(touching.take, mayTouch);
  return {
    add(message) {
      touching.see(message.position);
      pairing.add(message);
    },
    openFrom: () => pairing.waiting()[0]?.position,
    touches: () => touching.touches(pairing.waiting()),
  };
}
