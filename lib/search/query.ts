import { SpoorError } from "#lib/core/errors";
import { utcInstant } from "#lib/core/fields";
import { limits } from "#lib/core/limits";
import { type QueryTerm, readTerms, refused } from "#lib/search/grammar";
import type { Speaker } from "#lib/search/index/speaker";
import { hashFact, inField } from "#lib/search/index/terms";
import { parseUnit, type QueryUnit } from "#lib/search/index/unit";

/**
 * `file:src/x.ts`, `changed:src/x.ts` or `-file:x.ts`. `ending` begins with a slash; `name` and `ending` are in lower
 * case.
 */
export type FileTerm = { name: string; ending: string; changed: boolean; excluded: boolean; written: string };

type More = Partial<Pick<FileTerm, "changed" | "excluded" | "written">>;

export function fileNamed(path: string, more: More = {}): FileTerm | undefined {
  const parts = path
    .replaceAll("\\", "/")
    .toLowerCase()
    .split("/")
    .filter((part) => part !== "" && part !== ".");
  const name = parts.at(-1);
  if (name === undefined) return undefined;
  return { name, ending: `/${parts.join("/")}`, changed: false, excluded: false, written: path, ...more };
}

/** One unit must be found, or none if excluded; optional groups only affect the order. */
export type QueryGroup = { units: QueryUnit[]; excluded: boolean; optional?: boolean };

/** `value` is in lower case; for `before` and `after` an instant. */
export type RowTerm = {
  name: "project" | "branch" | "agent" | "model" | "before" | "after";
  value: string;
  excluded: boolean;
};

export type QueryScope = "title" | Speaker;

export type SearchQuery = { units: QueryUnit[]; groups: QueryGroup[]; scope?: QueryScope };

type Parsed = SearchQuery & { files: FileTerm[]; rows: RowTerm[] };

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
 * Parses a query (docs/search.md). Words with inner punctuation (`src/lib/x.ts`, `foo_bar`) match literally; outer
 * punctuation and case are ignored.
 * @throws SpoorError `invalid_request` with the position of the error
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
    throw refused(
      scope
        ? "needs a word beside `role:` or `in:`, such as `role:thinking timer`"
        : "has no word or number to search for",
    );
  if (parsed.files.length > maxFiles) throw refused(`must name at most ${maxFiles} files`);
  if (parsed.rows.length > maxFilters) throw refused(`must have at most ${maxFilters} filters`);
  return parsed;
}

const fillers = new Set(
  `a an the this that these those and of to in on at for with from by as into about than then so if
  is are was were be been am do does did has have had can could will would shall should may might must
  i me my we us our you your he she they them their it its there
  how what when where which who whom whose why while please`.split(/\s+/),
);

/** Unquoted fillers are optional, unless the query has nothing else. */
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
    const { beginning: _, ...asWritten } = unit; // a search for `with` must not find `without`
    group.units = [{ ...asWritten, alternatives: unit.alternatives.slice(0, 1) }];
  }
}

const isFillerWord = ({ longest }: QueryUnit) => fillers.has(longest.toLowerCase());

function addUnit({ groups, units }: Parsed, unit: QueryUnit, term: QueryTerm): void {
  const last = groups.at(-1);
  if (term.either && (term.excluded || !last || last.excluded))
    throw refused("`or` only joins words and phrases", term);
  if (term.either) last?.units.push(unit);
  else groups.push({ units: [unit], excluded: term.excluded });
  if (!term.excluded && !isFact(unit)) units.push(unit);
}

export const isFact = ({ fact }: QueryUnit) => fact !== undefined;

function readTerm(term: QueryTerm, { files, rows }: Parsed): QueryUnit | undefined {
  const { filter, text, excluded, written } = term;
  if (!filter) return parseUnit(text, term.quoted);
  if (term.either && !["tool", "has"].includes(filter)) throw refused("`or` only joins words and phrases", term);
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
      return undefined; // parseScope has read it
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
    alternatives: [[hashFact(fact)]],
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

/** Speakers without a field are checked in the text. */
function within(unit: QueryUnit, scope: QueryScope): QueryUnit {
  if (scope !== "title" && scope !== "person") return unit;
  return {
    ...unit,
    alternatives: unit.alternatives.map((terms) => terms.map((term) => inField(term, scope))),
    field: scope,
  };
}

/** A date (UTC) or a date-time with an offset, in the years 1 to 9999. */
function parseSearchInstant(term: QueryTerm): string {
  const { text } = term;
  const at = utcInstant.safeParse(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text);
  if (!at.success) throw refused(`\`${term.filter}:\` takes a day such as 2026-03-01`, term);
  return at.data;
}

const isSpokenElsewhere = (scope: QueryScope | undefined) =>
  scope !== undefined && scope !== "title" && scope !== "person";

export const getUnprovenGroups = ({ groups, scope }: SearchQuery): QueryGroup[] =>
  groups.filter(
    ({ units, excluded, optional }) =>
      !excluded &&
      !optional &&
      !units.some(isFact) &&
      (isSpokenElsewhere(scope) || units.some(({ needsText }) => needsText)),
  );

export function isQuery(text: string): boolean {
  return findQueryProblem(text) === undefined;
}

export const isRanked = (text: string): boolean => parseQuery(text).units.length > 0;

export function findQueryProblem(text: string): string | undefined {
  try {
    parseQuery(text);
  } catch (error) {
    if (!(error instanceof SpoorError)) throw error;
    return error.errors?.[0]?.message ?? error.message;
  }
}
