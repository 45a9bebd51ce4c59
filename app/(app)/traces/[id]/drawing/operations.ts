import type { ReaderMessage } from "#lib/reader/message";
import { rowsOf } from "#lib/reader/rows";
import { changeTexts } from "#lib/secrets/mask";
import { forOthers, textForOthers } from "#lib/traces/for-others";
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

type SegmentInput = { read: Read; view: View; talk: boolean; masked?: boolean; at?: number | undefined };
type BodyInput = {
  messages: ReaderMessage[];
  view: View;
  masked?: boolean;
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
const viewFor = (view: View, masked = false): View =>
  masked || "sharedAt" in view.whose
    ? { ...view, place: changeTexts(view.place ?? nowhere, (text) => textForOthers(text)) }
    : view;

const nowhere = { roots: [], isWindows: false };

/** What is done on a thread, since it takes long: rows, differences, Markdown, colours, HTML. */
export const operations = {
  async segment({ read: stored, view: own, talk, masked, at }: SegmentInput): Promise<DrawnSegment> {
    const read = masked ? { ...stored, messages: stored.messages.map((message) => forOthers(message)) } : stored;
    const view = viewFor(own, masked);
    for (let cost = maxCost; ; cost /= 4) {
      const { rows, ...segment } = rowsOfSegment(read, talk, cost);
      const html = await drawMessages(rows, view, talk);
      if (html.length > maxHtml && rows.length > 1 && cost > minCost) continue;
      const hidden = talk && at !== undefined && rows.some((row) => !row.talk && row.positions.includes(at));
      return { ...segment, html, hidden };
    }
  },

  /** @returns undefined where there is no such body */
  async body({ messages, view, masked, position, part }: BodyInput): Promise<string | undefined> {
    const row = rowsOf(masked ? messages.map((message) => forOthers(message)) : messages).find(
      (one) => one.position === position,
    );
    return row && drawBody(row, viewFor(view, masked), part);
  },

  /** All that a session did to files. */
  changes: drawChanges,

  /** Loads what most sessions need. A thread's first drawing takes ten times as long as the later ones. */
  async sample(view: View): Promise<string> {
    return drawMessages(rowsOf(sampleMessages), view, false);
  },
};

export type Operations = typeof operations;
