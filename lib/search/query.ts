// Reading a search query: its words and phrases, which the index answers, and its filters.
import { SpoorError } from "#lib/errors";
import { utcInstant } from "#lib/fields";
import { limits } from "#lib/limits";
import { type FileTerm, fileNamed } from "#lib/search/file-term";
import { type QueryTerm, readTerms, refused } from "#lib/search/grammar";
import type { Speaker } from "#lib/search/speaker";
import { inField, termOfFact } from "#lib/search/terms";
import { parseUnit, type QueryUnit } from "#lib/search/unit";

/** Units of which one at least must be found, or none where they are excluded; what is `optional` only adds to the order. */
export type QueryGroup = { units: QueryUnit[]; excluded: boolean; optional?: boolean };

/** A filter that the traces' rows answer. `value` is in lower case; of `before` and `after` it is an instant. */
export type RowTerm = {
  name: "project" | "branch" | "agent" | "model" | "before" | "after";
  value: string;
  excluded: boolean;
};

/** Where the words must stand: in a title, or in what one speaker said. */
export type QueryScope = "title" | Speaker;

/** All of its groups must be found. `units` are the words and phrases that an excerpt shows. */
export type SearchQuery = { units: QueryUnit[]; groups: QueryGroup[]; scope?: QueryScope };

/** What a query asks for. */
export type Parsed = SearchQuery & { files: FileTerm[]; rows: RowTerm[] };

const { queryWords: maxWords, queryFiles: maxFiles, queryFilters: maxFilters } = limits.traces;

const roles: Record<string, Speaker> = {
  user: "person",
  person: "person",
  me: "person",
  assistant: "assistant",
  thinking: "thinking",
  tool: "tool",
};

/**
 * Reads a query (docs/search.md): words, phrases in quotes, `-` before what must not be there, `or` between alternatives, and
 * filters with a colon. A word with signs inside (`src/lib/x.ts`, `foo_bar`) is found as it is written; signs at its ends do not
 * count, and neither does case.
 *
 * @throws SpoorError `invalid_request` with the place where it is no query.
 */
export function parseQuery(text: string): Parsed {
  const parsed: Parsed = { units: [], groups: [], files: [], rows: [] };
  const terms = readTerms(text);
  const scope = parseScope(terms);
  let words = 0;
  for (const term of terms) {
    const unit = readTerm(term, parsed);
    if (!unit) continue;
    const scoped = scope && !isFact(unit) ? within(unit, scope) : unit;
    words += unit.words;
    if (words > maxWords) throw refused(`must have at most ${maxWords} words`, term);
    addUnit(parsed, scoped, term);
  }
  if (scope) parsed.scope = scope;
  forgiveFillers(parsed, terms);
  if (parsed.groups.length + parsed.files.length + parsed.rows.length === 0)
    throw refused("has no word or number to search for");
  if (parsed.files.length > maxFiles) throw refused(`must name at most ${maxFiles} files`);
  if (parsed.rows.length > maxFilters) throw refused(`must have at most ${maxFilters} filters`);
  return parsed;
}

/** Words of a question in plain English that say nothing of what is looked for. */
const fillers = new Set(
  `a an the this that these those and of to in on at for with from by as into about than then so if
  is are was were be been am do does did has have had can could will would shall should may might must
  i me my we us our you your he she they them their it its there
  how what when where which who whom whose why while please`.split(/\s+/),
);

/** What stands outside quotes as one of these words need not be found, unless there is nothing else to find. */
function forgiveFillers({ groups, units }: Parsed, terms: QueryTerm[]): void {
  const plain = new Set(terms.flatMap(({ quoted, filter, text }) => (quoted || filter ? [] : text)));
  const isFiller = ({ units: [unit, ...others], excluded }: QueryGroup) =>
    !excluded && others.length === 0 && unit?.words === 1 && plain.has(unit.written) && isFillerWord(unit);
  const isTelling = (group: QueryGroup) => !group.excluded && !group.units.some(isFact) && !isFiller(group);
  if (!groups.some(isTelling)) return;
  for (const group of groups.filter(isFiller)) {
    const [unit] = group.units as [QueryUnit];
    units.splice(units.indexOf(unit), 1);
    group.optional = true;
    const { beginning: _, ...asWritten } = unit; // of `with` nobody means `without`
    group.units = [{ ...asWritten, alternatives: unit.alternatives.slice(0, 1) }];
  }
}

const isFillerWord = ({ longest }: QueryUnit) => fillers.has(longest.toLowerCase());

function addUnit({ groups, units }: Parsed, unit: QueryUnit, term: QueryTerm): void {
  const last = groups.at(-1);
  if (term.either && (term.excluded || !last || last.excluded))
    throw refused("`or` joins words and phrases only", term);
  if (term.either) last?.units.push(unit);
  else groups.push({ units: [unit], excluded: term.excluded });
  if (!term.excluded && !isFact(unit)) units.push(unit);
}

/** Facts stand in no text. */
export const isFact = ({ fact }: QueryUnit) => fact !== undefined;

/** Takes in a filter, or makes a unit of words; undefined for signs alone. */
function readTerm(term: QueryTerm, { files, rows }: Parsed): QueryUnit | undefined {
  const { filter, text, excluded, written } = term;
  if (!filter) return parseUnit(text, term.quoted);
  if (term.either && !["tool", "has"].includes(filter)) throw refused("`or` joins words and phrases only", term);
  switch (filter) {
    case "file":
    case "changed": {
      if (text.includes("*") && !term.quoted)
        throw refused(`\`${filter}:\` takes the end of a path, without \`*\``, term);
      const file = fileNamed(text, { changed: filter === "changed", excluded, written });
      if (file) files.push(file);
      return file || text === "" ? undefined : parseUnit(`${filter}:${text}`, false);
    }
    case "in":
    case "role":
      return undefined; // scopeOf has read it
    case "tool":
      return makeFactUnit(`tool:${text}`, written);
    case "has":
      if (text.toLowerCase() !== "error") throw refused("`has:` takes `error`", term);
      return makeFactUnit("has:error", written);
    default: {
      const value = filter === "before" || filter === "after" ? parseSearchInstant(term) : text.toLowerCase();
      rows.push({ name: filter, value, excluded });
      return undefined;
    }
  }
}

const makeFactUnit = (fact: string, written: string): QueryUnit => ({
  ...{
    words: 0,
    fact: fact.toLowerCase(),
    written,
    alternatives: [[termOfFact(fact)]],
    pattern: /(?!)/gu,
    coarse: "",
    longest: "",
    isOpen: false,
    needsText: false,
  },
});

function parseScope(terms: QueryTerm[]): QueryScope | undefined {
  const given = terms.filter(({ filter }) => filter === "in" || filter === "role");
  const [first, second] = given;
  if (!first) return undefined;
  if (second) throw refused("`in:` and `role:` can't be given twice", second);
  if (first.excluded) throw refused("`in:` and `role:` can't be excluded", first);
  const value = first.text.toLowerCase();
  if (first.filter === "in" && value !== "title") throw refused("`in:` takes `title`", first);
  const role = Object.hasOwn(roles, value) ? roles[value] : undefined;
  const scope = first.filter === "in" ? "title" : role;
  if (!scope) throw refused("`role:` takes `user`, `assistant`, `thinking` or `tool`", first);
  return scope;
}

/** A unit in one field of the index; of speakers without a field the text decides. */
function within(unit: QueryUnit, scope: QueryScope): QueryUnit {
  if (scope !== "title" && scope !== "person") return unit;
  return {
    ...unit,
    alternatives: unit.alternatives.map((terms) => terms.map((term) => inField(term, scope))),
    field: scope,
  };
}

/** A day (UTC) or a date-time with an offset, which exists, in the years 1 to 9999. */
function parseSearchInstant(term: QueryTerm): string {
  const { text } = term;
  const at = utcInstant.safeParse(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text);
  if (!at.success) throw refused(`\`${term.filter}:\` takes a day such as 2026-03-01`, term);
  return at.data;
}

/** Speakers whose words are no field of the index. */
const isSpokenElsewhere = (scope: QueryScope | undefined) =>
  scope !== undefined && scope !== "title" && scope !== "person";

/** The groups of a query that the index does not prove, so that the text decides. */
export const getUnprovenGroups = ({ groups, scope }: SearchQuery): QueryGroup[] =>
  groups.filter(
    ({ units, excluded, optional }) =>
      !excluded &&
      !optional &&
      !units.some(isFact) &&
      (isSpokenElsewhere(scope) || units.some(({ needsText }) => needsText)),
  );

/** Whether a text is a query, as `parseQuery` takes it. */
export function isQuery(text: string): boolean {
  return findQueryProblem(text) === undefined;
}

/** Whether a query has words by which what it finds can be ranked. @throws SpoorError as `parseQuery` */
export const isRanked = (text: string): boolean => parseQuery(text).units.length > 0;

/** Why a text is no query, in a sentence for people; undefined where it is one. */
export function findQueryProblem(text: string): string | undefined {
  try {
    parseQuery(text);
  } catch (error) {
    if (!(error instanceof SpoorError)) throw error;
    return error.errors?.[0]?.message ?? error.message;
  }
}
