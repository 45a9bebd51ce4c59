import { changeTexts } from "#common/secrets/mask";
import { forOthers, type HiddenNames } from "#lib/masking/for-others";
import { makeHider } from "#lib/masking/mask-pieces";
import type { ReaderMessage } from "#lib/transcript/message";
import { makeRows } from "#lib/transcript/rows";
import { drawChanges } from "../changes/draw-changes";
import { drawBody, drawMessages, type View } from "../messages/messages";
import type { Read } from "../segments/read-segment";
import { makeSegmentRows, type SegmentRows } from "../segments/rows";
import { sampleMessages } from "./sample";

export type DrawnSegment = Omit<SegmentRows, "rows"> & {
  html: string;
  hidden: boolean;
};

type Masking = { masked?: boolean; names?: HiddenNames };
const noNames: HiddenNames = { machine: null, owners: [] };
type SegmentInput = Masking & { read: Read; view: View; talk: boolean; at?: number | undefined };
type BodyInput = Masking & {
  messages: ReaderMessage[];
  view: View;
  position: number;
  part?: string | undefined;
};

/** In the unit of `getDrawingCost`: 100 messages of most sessions. */
const maxCost = 200_000;
/** Segments with more HTML are drawn again with fewer messages. */
const maxHtml = 1_000_000;
/** A segment that costs less is not made smaller. */
const minCost = 2000;

/** Other readers must not learn the owner's folders from completed paths. */
function viewFor(view: View, { masked, names = noNames }: Masking): View {
  if (!masked && !("sharedAt" in view.whose)) return view;
  const hide = makeHider(names);
  return { ...view, place: changeTexts(view.place ?? nowhere, (text) => hide(text)) };
}

function messagesFor(messages: ReaderMessage[], { masked, names = noNames }: Masking): ReaderMessage[] {
  if (!masked) return messages;
  const hide = makeHider(names);
  return messages.map((message) => forOthers(message, hide));
}

const nowhere = { roots: [], isWindows: false };

export const operations = {
  async segment({ read: stored, view: own, talk, at, ...masking }: SegmentInput): Promise<DrawnSegment> {
    const read = { ...stored, messages: messagesFor(stored.messages, masking) };
    const view = viewFor(own, masking);
    for (let cost = maxCost; ; cost /= 4) {
      const { rows, ...segment } = makeSegmentRows(read, talk, cost);
      const html = await drawMessages(rows, view, talk);
      if (html.length > maxHtml && rows.length > 1 && cost > minCost) continue;
      const hidden = talk && at !== undefined && rows.some((row) => !row.talk && row.positions.includes(at));
      return { ...segment, html, hidden };
    }
  },

  async body({ messages, view, position, part, ...masking }: BodyInput): Promise<string | undefined> {
    const row = makeRows(messagesFor(messages, masking)).find((one) => one.position === position);
    return row && drawBody(row, viewFor(view, masking), part);
  },

  changes: drawChanges,

  /** A thread's first drawing is ten times slower. */
  async sample(view: View): Promise<string> {
    return drawMessages(makeRows(sampleMessages), view, false);
  },
};

export type Operations = typeof operations;
