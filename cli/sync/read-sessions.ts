import { isDeepStrictEqual } from "node:util";
import type { ProjectLabels } from "../projects/rules.ts";
import type { Writing } from "../sessions/collector.ts";
import { type AdapterInput, type ParsedInput, parseInput } from "../sessions/inputs.ts";
import { beginAgain, type UnsentSession } from "../sessions/session.ts";
import { sessionKey } from "./sent-record.ts";

type Options = Omit<Writing, "onChanged"> & {
  isLeftOut(labels: ProjectLabels): boolean;
  isWhole?(session: { source: string; sourceId: string }): boolean;
  pause?(): Promise<void>;
};

/**
 * Only a session's end shows whether earlier messages changed. The second reading then replaces even a longer session
 * on the server.
 *
 * @returns the stats of the first reading, with the errors of both
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
