import { SpoorError } from "#lib/core/errors";
import { distance } from "#lib/search/distance";
import { composed } from "#lib/search/index/terms";

/** Before any other colon, text is part of a word, as in `TypeError:` or `https:`. */
export const filterWords = [
  "file",
  "changed",
  "project",
  "branch",
  "agent",
  "model",
  "tool",
  "role",
  "in",
  "before",
  "after",
  "has",
] as const;
type FilterWord = (typeof filterWords)[number];

/** `at` is the index of `written` in the query; `either` if `or` joins it to the previous term. */
export type QueryTerm = {
  written: string;
  at: number;
  excluded: boolean;
  filter?: FilterWord;
  text: string;
  quoted: boolean;
  either: boolean;
};

const quotes = `["“”]`;
/** No exclusion before a single Latin letter, which is a command's flag, as in `git rm -r`. */
const minus = `-(?=[\\p{L}_"“”])(?!\\p{Script=Latin}(?:[\\s"“”]|$))`;
const term = new RegExp(
  `(${minus})?((?:${filterWords.join("|")}):(?=[^\\s]))?(?:${quotes}([^"“”]*)${quotes}|([^\\s"“”]+))`,
  "giu",
);

export function refused(
  message: string,
  { at, written }: { at: number; written: string } = { at: 0, written: "" },
): SpoorError {
  const place = written ? ` (at character ${at + 1}: ${written.slice(0, 40)})` : "";
  return new SpoorError("invalid_request", "The request is not valid; see errors.", {
    errors: [{ path: "q", message: `${message}${place}` }],
  });
}

/** @throws SpoorError `invalid_request` with the position of an `or` that joins nothing */
export function readTerms(query: string): QueryTerm[] {
  const terms: QueryTerm[] = [];
  let or: { at: number; written: string } | undefined;
  for (const match of composed(query).matchAll(term)) {
    const [written, minus, prefix, phrase, word = ""] = match;
    const place = { at: match.index, written };
    if (!minus && !prefix && phrase === undefined && /^or$/i.test(word)) {
      if (or || terms.length === 0) throw refused("`or` needs a term on both sides", place);
      or = place;
      continue;
    }
    const filter = prefix?.slice(0, -1).toLowerCase() as FilterWord | undefined;
    const one = { ...place, excluded: minus !== undefined, text: phrase ?? word, quoted: phrase !== undefined };
    terms.push({ ...one, ...(filter && { filter }), either: or !== undefined });
    or = undefined;
  }
  if (or) throw refused("`or` needs a term on both sides", or);
  return terms;
}

export function parseTerms(query: string): QueryTerm[] {
  try {
    return readTerms(query);
  } catch (error) {
    if (error instanceof SpoorError) return [];
    throw error;
  }
}

/** A word that was meant as a filter, as in `projct:lore`. */
const slip = /^(\p{L}{2,12}):(?=[^\s/:])/u;

/** @returns the query with its filters spelled right; undefined if none is misspelled */
export function correctFilters(query: string): string | undefined {
  const text = composed(query);
  let [corrected, from] = ["", 0];
  for (const { filter, quoted, text: word, at, written } of parseTerms(query)) {
    const [, typed = ""] = (!filter && !quoted && slip.exec(word)) || [];
    const meant = typed && nearestFilter(typed.toLowerCase());
    if (!meant) continue;
    const start = at + written.indexOf(typed);
    corrected += text.slice(from, start) + meant;
    from = start + typed.length;
  }
  return from === 0 ? undefined : corrected + text.slice(from);
}

function nearestFilter(typed: string): FilterWord | undefined {
  const near = filterWords.filter((word) => word.length > 3 && distance(typed, word, 2) <= (word.length > 5 ? 2 : 1));
  return near.length === 1 ? near[0] : undefined;
}

export function withoutTerm(query: string, { at, written }: QueryTerm): string {
  const text = composed(query);
  const rest = `${text.slice(0, at)} ${text.slice(at + written.length)}`.replace(/\s+/g, " ").trim();
  return rest
    .replace(/^(?:or )+|(?: or)+$/gi, "")
    .replace(/\bor(?: or\b)+/gi, "or")
    .replace(/^or$/i, "");
}
