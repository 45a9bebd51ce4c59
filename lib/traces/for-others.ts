// What strangers see of a session: readers of a share link, and whoever is sent its Markdown.
import { changeTexts, maskForOthers } from "#lib/secrets/mask";

/** The part of a session that is shown: both positions are in it; without one it goes to that end. */
export type Range = { from: number | null; to: number | null };

export const wholeRange: Range = { from: null, to: null };

export const isWithin = ({ from, to }: Range, position: number): boolean =>
  (from === null || position >= from) && (to === null || position <= to);

/** A home folder, whose name is a person's: also with the doubled backslashes of JSON in a text. */
const homes =
  /(?<![\w.~-])(?:\/(?:home|Users)\/|[A-Za-z]:(?:\\{1,4}|\/)Users(?:\\{1,4}|\/))[\w.@-]+(?:(?=[/\\])|(?![\w.@-]))/g;

/** A text with `~` for each home folder, and `[redacted:KIND]` for what may be a secret. */
export const textForOthers = (text: string): string => maskForOthers(text).replace(homes, "~");

/** How many home folders a text names. */
export const countHomes = (text: string): number => text.match(homes)?.length ?? 0;

type Texts = { content: string; metadata: Record<string, unknown> | null };

/** A message as others see it. */
export function forOthers<M extends Texts>(message: M): M {
  return {
    ...message,
    content: textForOthers(message.content),
    metadata: changeTexts(message.metadata, textForOthers),
  };
}
