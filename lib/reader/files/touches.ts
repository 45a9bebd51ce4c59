import { limits } from "#lib/limits";
import type { Call, Result } from "#lib/reader/call";
import { listChanges, countChangedLines, type FileChange, reportedChanges } from "#lib/reader/files/changed";
import { type Place, readPlace, projectPath } from "#lib/reader/files/paths";
import { listReads } from "#lib/reader/files/reads";
import { shellChanges } from "#lib/reader/files/shell";
import { type Counts, newEffort } from "#lib/reader/line-diff";
import type { Kind, ReaderMessage } from "#lib/reader/message";
import { readOutcome } from "#lib/reader/outcome";
import { makePairing, type Placed } from "#lib/reader/pairing";
import { plainCall } from "#lib/reader/script";
import { kindOfTool, plainName } from "#lib/reader/vocabulary";

/** What a call did with a file. */
type Action = "read" | "edit" | "write" | "delete";

/** That a call at a position read or changed a file, how many lines it added and removed, and what tells the call. */
export type Touch = { position: number; path: string; action: Action } & Counts & OfCall;
type OfCall = Pick<Placed, "createdAt" | "isCopy"> & { callId: string | undefined };

/** What of a trace tells how its calls are to be read. */
export type Session = { source: string; metadata: Record<string, unknown> | null };

/** A session's further touches are left out. */
export const maxTouches = limits.traces.fileRows;

/** Agents whose files mostly leave results out: a call is taken as carried out there once the session went on. */
const withoutResults = new Set(["cursor"]);
export const leavesOutResults = ({ source }: Session): boolean => withoutResults.has(source);

const getCallKind = ({ kind, name, type }: Call): Kind => kind ?? kindOfTool(name, type);
const touching = new Set<Kind>(["edit", "write", "read", "shell"]);

/** Whether a call may read or change files: only for the results of such calls is it worth waiting. */
const mayTouch = (call: Call): boolean => touching.has(getCallKind(call)); // `exec` is a shell, whatever its script calls

/**
 * What a call did with files; nothing where it failed, was declined, or has no result.
 *
 * @param isOver whether a call without a result counts as carried out
 */
function listTouches(placed: Placed, result: Result | undefined, place: Place, isOver = false) {
  const { position, folder, createdAt, isCopy } = placed;
  const ofCall: OfCall = { createdAt, isCopy, callId: placed.call.callId };
  const call = plainCall(placed.call);
  const kind = getCallKind(call);
  if (!touching.has(kind) || !isDone(kind, result, isOver)) return [];
  const byPath = new Map<string, Touch>();
  const add = (written: string, action: Action, counts: Counts, at: string | undefined) => {
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

/** A change of a file, and the folder in which a relative path of it is. */
type Made = { change: FileChange; folder: string | undefined };

/** The changes of a call that was carried out. */
function changesIn({ call, folder }: Placed, result: Result | undefined): Made[] {
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

/** The changes that a call made to files; none where it failed, was declined, or has no result. @param isOver as `touchesOf` */
export function changesMade(placed: Placed, result: Result | undefined, isOver: boolean): Made[] {
  const call = plainCall(placed.call);
  return isDone(getCallKind(call), result, isOver) ? changesIn({ ...placed, call }, result) : [];
}

/** Whether a call did what it says; what a command is reported to have changed is done, also where it failed then. */
function isDone(kind: Kind, result: Result | undefined, isOver: boolean): boolean {
  if (!result) return isOver;
  return readOutcome(result).status === "ok" || (kind === "shell" && reportedChanges(result) !== undefined);
}

const absolute = /^(?:[\\/~]|[A-Za-z]:[\\/])/;
const none = { added: 0, removed: 0 };

/** Tools that start a shell for each command, in the session's folder; others stay where an earlier `cd` led. */
const startsInFolder = new Set(
  "execcommand shell localshell localshellcall shellcommand runshellcommand exec".split(" "),
);

/** What a session touched, as its calls are taken. */
export function makeTouching(session: Session) {
  const place = readPlace(session.metadata);
  const isLeftOut = leavesOutResults(session);
  const touched: Touch[] = [];
  let last = -1;
  return {
    /** The position of the message that comes next. */
    see(position: number): void {
      last = position;
    },
    take(placed: Placed, result: Result | undefined): void {
      if (touched.length < 2 * maxTouches)
        touched.push(...listTouches(placed, result, place, isLeftOut && placed.position < last));
    },
    /** All of it in the order of positions, with the calls that still wait, where those count. */
    touches(waiting: Placed[]): Touch[] {
      const more = isLeftOut ? waiting : [];
      const open = more.flatMap((placed) => listTouches(placed, undefined, place, placed.position < last));
      return inOrder([...touched, ...open]).slice(0, maxTouches);
    },
  };
}

/** By position. What several calls of one message did with a file is one touch: a table's key. */
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
  /** What was touched so far, in the order of positions. */
  touches(): Touch[];
};

/** Reads what a session touched, message by message. */
export function makeFileReader(session: Session): FileReader {
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
