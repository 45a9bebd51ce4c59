import { z } from "zod";
import { limits } from "#lib/core/limits";
import type { Sharing } from "#lib/masking/for-others";
import type { Outline, Turn } from "#lib/transcript/outline";
import type { SearchParams } from "../../../../components/shell/pages";
import { turnAt } from "../outline/turns";

const position = z
  .string()
  .regex(/^\d{1,10}$/)
  .transform(Number)
  .pipe(z.int().max(limits.message.integer));

function parseSharing(query: SearchParams): Sharing {
  const at = (name: string) => position.safeParse(query[name]).data ?? null;
  const [from, to] = [at("from"), at("to")];
  const isBackwards = from !== null && to !== null && to < from;
  return {
    from: isBackwards ? to : from,
    to: isBackwards ? from : to,
    masked: query.plain !== "1",
    ...(query.pictures === "1" && { pictures: true }),
  };
}

/** A turn ends before the next one; the last ends at the session's current last message. */
export const listRangeEnds = ({ turns, span }: Pick<Outline, "turns" | "span">): { value: number; turn: Turn }[] =>
  turns.map((turn, index) => ({ turn, value: (turns[index + 1]?.position ?? span.last + 1) - 1 }));

export function sharingIn(outline: Pick<Outline, "turns" | "span">, query: SearchParams): Sharing {
  const sharing = parseSharing(query);
  const asked = position.safeParse(query.turn).data;
  if (asked === undefined) return sharing;
  const turn = listRangeEnds(outline)[turnAt(outline.turns, asked)];
  return { ...sharing, from: turn?.turn.position ?? asked, to: turn?.value ?? asked };
}

export const makeAddress = (traceId: string, path: string, { from, to, masked, pictures }: Sharing): string => {
  const query = new URLSearchParams();
  if (from !== null) query.set("from", String(from));
  if (to !== null) query.set("to", String(to));
  if (!masked) query.set("plain", "1");
  if (pictures) query.set("pictures", "1");
  const text = query.toString();
  return `${path.replace("ID", traceId)}${text && `?${text}`}`;
};
