import { isDeepStrictEqual } from "node:util";
import type { ProjectLabels } from "../projects/rules.ts";
import type { Writing } from "../sessions/collector.ts";
import { type AdapterInput, type ParsedInput, parseInput } from "../sessions/inputs.ts";
import { beginAgain, type UnsentSession } from "../sessions/session.ts";
import { sessionKey } from "./sent-record.ts";

type Options = Omit<Writing, "onChanged"> & {
  isLeftOut(labels: ProjectLabels): boolean;
  /** Whether what the input has of a session is all that is to be stored of it. */
  isWhole?(session: { source: string; sourceId: string }): boolean;
  pause?(): Promise<void>;
};

/**
 * Reads the sessions of an input: of those that were sent before what came since, of all others everything. One whose earlier
 * messages have changed is only found out at its end, so the input is then read once more. What was sent of that is replaced, also
 * by fewer messages: else the server would keep the longer one, and take nothing more until the session has outgrown it.
 *
 * @returns the stats of the first reading, and what the second one could not read
 */
export async function readSessions(
  input: AdapterInput,
  { pause, isLeftOut, isWhole, ...writing }: Options,
): Promise<ParsedInput> {
  const changed = new Set<string>();
  const isChanged = (source: string, sourceId: string) => changed.has(sessionKey({ source, sourceId }));
  const options = { isLeftOut, ...(pause && { pause }) };
  const onChanged = (source: string, sourceId: string) => void changed.add(sessionKey({ source, sourceId }));
  const stats = await parseInput(input, { writing: { ...writing, onChanged }, ...options });
  if (changed.size === 0) return stats;
  const again: Writing = {
    ...writing,
    known: (source, sourceId) => {
      const known = writing.known(source, sourceId);
      if (!isChanged(source, sourceId)) return known;
      const state = beginAgain(known.state?.hash || (known.state?.digest ?? ""));
      return { ...known, state, replaces: known.replaces === true || isWhole?.({ source, sourceId }) === true };
    },
    onPart: (part) => {
      if (isChanged(part.source, part.sourceId)) writing.onPart(part);
    },
    onChanged() {},
  };
  const { left, isGone } = await parseInput(input, { writing: again, ...options });
  const isKnown = (one: UnsentSession) => stats.left.some((known) => isDeepStrictEqual(known, one));
  return { ...stats, left: [...stats.left, ...left.filter((one) => !isKnown(one))], ...(isGone && { isGone }) };
}
