import { z } from "zod";
import { limits } from "#lib/limits";
import type { Turn } from "#lib/reader/outline";
import type { Range } from "#lib/traces/for-others";

const position = z
  .string()
  .regex(/^\d{1,10}$/)
  .transform(Number)
  .pipe(z.int().max(limits.message.integer));

/** What an address asks to be shared; what makes no sense is the whole session, and secrets are hidden unless it says otherwise. */
export function sharingOf(query: Record<string, string | string[] | undefined>): Range & { masked: boolean } {
  const at = (name: string) => position.safeParse(query[name]).data ?? null;
  const [from, to] = [at("from"), at("to")];
  const isBackwards = from !== null && to !== null && to < from;
  return { from: isBackwards ? to : from, to: isBackwards ? from : to, masked: query.plain !== "1" };
}

/** The ends of turns: each the position before the next turn, the last one open, so that what is added later is in it. */
export const endsOf = (turns: Turn[]): { value: number | null; turn: Turn }[] =>
  turns.map((turn, index) => ({ value: (turns[index + 1]?.position ?? Number.NaN) - 1, turn })).map(closed);

const closed = ({ value, turn }: { value: number; turn: Turn }) => ({
  value: Number.isNaN(value) ? null : value,
  turn,
});

export const addressOf = (traceId: string, path: string, { from, to, masked }: Range & { masked: boolean }): string => {
  const query = new URLSearchParams();
  if (from !== null) query.set("from", String(from));
  if (to !== null) query.set("to", String(to));
  if (!masked) query.set("plain", "1");
  const text = query.toString();
  return `${path.replace("ID", traceId)}${text && `?${text}`}`;
};
