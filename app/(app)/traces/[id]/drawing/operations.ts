import type { ReaderMessage } from "#lib/reader/message";
import { rowsOf } from "#lib/reader/rows";
import { changeTexts } from "#lib/secrets/mask";
import { forOthers, type HiddenNames } from "#lib/traces/for-others";
import { hideAll } from "#lib/traces/masked";
import { drawChanges } from "../changes/draw-changes";
import { drawBody, drawMessages, type View } from "../messages/messages";
import type { Read } from "../segments/read";
import { rowsOfSegment, type SegmentRows } from "../segments/rows";
import { sampleMessages } from "./sample";

/** A drawn segment: a run of neighbouring messages, and what the page's frame needs to know about it. */
export type DrawnSegment = Omit<SegmentRows, "rows"> & {
  html: string;
  /** Whether Talk leaves out the message at the position that was asked for. */
  hidden: boolean;
};

/** `names` are hidden in masked messages. */
type Masking = { masked?: boolean; names?: HiddenNames };
const noNames: HiddenNames = { machine: null, owners: [] };
type SegmentInput = Masking & { read: Read; view: View; talk: boolean; at?: number | undefined };
type BodyInput = Masking & {
  messages: ReaderMessage[];
  view: View;
  position: number;
  part?: string | undefined;
};

/** What a segment may cost, as `costOf` counts it: 100 messages of most sessions. */
const maxCost = 200_000;
/** The length of a segment's HTML. Text that is made to need much of it is drawn in smaller segments. */
const maxHtml = 1_000_000;
/** A segment that costs less is not made smaller. */
const minCost = 2000;

/** Others are not told where the session's files are, of which paths are made whole. */
function viewFor(view: View, { masked, names = noNames }: Masking): View {
  if (!masked && !("sharedAt" in view.whose)) return view;
  const hide = hideAll(names);
  return { ...view, place: changeTexts(view.place ?? nowhere, (text) => hide(text)) };
}

function messagesFor(messages: ReaderMessage[], { masked, names = noNames }: Masking): ReaderMessage[] {
  if (!masked) return messages;
  const hide = hideAll(names);
  return messages.map((message) => forOthers(message, hide));
}

const nowhere = { roots: [], isWindows: false };

/** What is done on a thread, since it takes long: rows, differences, Markdown, colours, HTML. */
export const operations = {
  async segment({ read: stored, view: own, talk, at, ...masking }: SegmentInput): Promise<DrawnSegment> {
    const read = { ...stored, messages: messagesFor(stored.messages, masking) };
    const view = viewFor(own, masking);
    for (let cost = maxCost; ; cost /= 4) {
      const { rows, ...segment } = rowsOfSegment(read, talk, cost);
      const html = await drawMessages(rows, view, talk);
      if (html.length > maxHtml && rows.length > 1 && cost > minCost) continue;
      const hidden = talk && at !== undefined && rows.some((row) => !row.talk && row.positions.includes(at));
      return { ...segment, html, hidden };
    }
  },

  /** @returns undefined where there is no such body */
  async body({ messages, view, position, part, ...masking }: BodyInput): Promise<string | undefined> {
    const row = rowsOf(messagesFor(messages, masking)).find((one) => one.position === position);
    return row && drawBody(row, viewFor(view, masking), part);
  },

  /** All that a session did to files. */
  changes: drawChanges,

  /** Loads what most sessions need. A thread's first drawing takes ten times as long as the later ones. */
  async sample(view: View): Promise<string> {
    return drawMessages(rowsOf(sampleMessages), view, false);
  },
};

export type Operations = typeof operations;
