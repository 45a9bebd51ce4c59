import type { ToolResult } from "#lib/transcript/call";
import type { FileChange } from "#lib/transcript/files/changed";
import { compare, type DiffChange, joinChanges } from "#lib/transcript/files/changes";
import type { Effort } from "#lib/transcript/files/line-diff";
import { patchLines } from "#lib/transcript/files/patches";
import { projectPath, readPlace } from "#lib/transcript/files/paths";
import { changesMade, leavesOutResults, type TouchingSession } from "#lib/transcript/files/touches";
import type { ReaderMessage } from "#lib/transcript/message";
import { makePairing, type Placed } from "#lib/transcript/pairing";

export type Fragment = { before: string; after: string; at?: [old: number, now: number] };

export type CombinedFile = {
  path: string;
  action: "edit" | "write" | "delete";
  fragments: Fragment[];
  places: number[];
};

export type Combined = {
  files: CombinedFile[];
  /** Number of changed files whose content is not in the session. */
  untold: number;
  /** Some changes exceeded the limits. */
  cut: boolean;
};

const isChange = ({ before, after }: Fragment) => before !== after;
const isEmpty = ({ before, after }: Fragment) => before === "" && after === "";

export const maxCombined = { files: 300, characters: 4_000_000, places: 100, fragments: 200 };
const maxSearched = 200_000_000;

/** Text that was changed twice is one change, as in a pull request. */
export function makeCombiner(session: TouchingSession) {
  const place = readPlace(session.metadata);
  const files = new Map<string, CombinedFile>();
  const left = { characters: maxCombined.characters, searched: maxSearched };
  let [last, cut] = [-1, false];

  const take = (placed: Placed, result: ToolResult | undefined) => {
    const isOver = leavesOutResults(session) && placed.position < last;
    for (const { change, folder } of changesMade(placed, result, isOver)) {
      const path = change.path.trim() === "" ? undefined : projectPath(change.path, place, folder);
      if (path === undefined) continue;
      const fragments = toFragments(change);
      left.characters -= fragments.reduce((sum, { before, after }) => sum + before.length + after.length, 0);
      const known = files.get(path) ?? { path, action: change.action, fragments: [], places: [] };
      if (left.characters < 0 || (!files.has(path) && files.size >= maxCombined.files)) {
        cut = true;
        continue;
      }
      files.set(path, known);
      if (known.places.length < maxCombined.places && known.places.at(-1) !== placed.position)
        known.places.push(placed.position);
      applyTo(known, change.action, fragments, left);
    }
  };
  const pairing = makePairing(take);
  return {
    add(message: ReaderMessage): void {
      last = message.position;
      pairing.add(message);
    },
    result(): Combined {
      pairing.end();
      const all = [...files.values()];
      const shown = all.filter(({ action, fragments }) => action === "delete" || fragments.some(isChange));
      const untold = all.filter(({ fragments }) => fragments.length > 0 && fragments.every(isEmpty)).length;
      return { files: shown.sort((a, b) => (a.path < b.path ? -1 : 1)), untold, cut };
    },
  };
}

function toFragments({ pieces }: FileChange): Fragment[] {
  return pieces
    .flatMap((piece) => ("patch" in piece ? splitPatch(piece.patch) : [piece]))
    .slice(0, maxCombined.fragments);
}

function splitPatch(patch: string): Fragment[] {
  const hunks: { before: string[]; after: string[]; at?: [number, number] }[] = [];
  for (const { type, text, at } of patchLines(patch)) {
    if (type === "hunk" || hunks.length === 0) hunks.push({ before: [], after: [], ...(at && { at }) });
    if (type === "hunk") continue;
    const hunk = hunks.at(-1);
    if (type !== "added") hunk?.before.push(text);
    if (type !== "removed") hunk?.after.push(text);
  }
  return hunks
    .filter(({ before, after }) => before.length + after.length > 0)
    .map(({ before, after, at }) => ({ before: linesText(before), after: linesText(after), ...(at && { at }) }));
}

const linesText = (lines: string[]) => (lines.length === 0 ? "" : `${lines.join("\n")}\n`);

function applyTo(file: CombinedFile, action: FileChange["action"], made: Fragment[], left: { searched: number }): void {
  const [written] = file.fragments;
  if (action === "delete") {
    if (file.action !== "write") file.action = "delete";
    file.fragments = [];
    return;
  }
  if (action === "write") {
    const [content] = made;
    if (content?.before === "" && written && file.action === "write")
      file.fragments = [{ ...written, after: content.after }];
    else file.fragments = made.map((one) => ({ at: [1, 1], ...one }));
    if (file.places.length === 1) file.action = "write";
    else if (file.action === "delete") file.action = "edit";
    return;
  }
  if (file.action === "delete") file.action = "edit";
  for (const one of made) if (!joins(file.fragments, one, left)) file.fragments.push(one);
  if (file.fragments.length > maxCombined.fragments) file.fragments.length = maxCombined.fragments;
}

/** Merges a change into an earlier one that it changes again. @returns whether there was one */
function joins(fragments: Fragment[], { before, after, at }: Fragment, left: { searched: number }): boolean {
  if (before.trim() === "") return false;
  for (let index = fragments.length - 1; index >= 0; index -= 1) {
    const known = fragments[index] as Fragment;
    left.searched -= known.after.length + before.length;
    if (left.searched < 0) return false;
    if (known.after.includes(before)) {
      fragments[index] = { ...known, after: known.after.replace(before, () => after) };
      return true;
    }
    if (known.after.trim() !== "" && before.includes(known.after)) {
      fragments[index] = { before: before.replace(known.after, () => known.before), after, ...(at && { at }) };
      return true;
    }
  }
  return false;
}

/** @param effort shared by everything that is counted together */
export function toFileChange({ fragments }: CombinedFile, effort: Effort): DiffChange {
  const changed = fragments.filter(isChange);
  const ordered = changed.every(({ at }) => at) ? changed.sort((a, b) => (a.at?.[1] ?? 0) - (b.at?.[1] ?? 0)) : changed;
  return joinChanges(ordered.map(({ before, after, at }) => compare(before, after, effort, at)));
}
