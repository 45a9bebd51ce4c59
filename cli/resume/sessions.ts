import { asString } from "../adapters/values.ts";
import { CommandError } from "../errors.ts";
import { type Fields, isFields, toList, toText } from "../files/json.ts";
import { type ListedOriginal, listOriginals } from "../originals/client.ts";
import { type Api, HttpError } from "../server/api.ts";

export type SessionFilter = { words: string[]; project?: string | undefined; sources?: string[] };

export type Archived = { traceId: string; source: string; sourceId: string; title: string; project: string };

const maxFound = 100;

/** @returns "not allowed" without the scope `originals`, "not known" from a server that has no exact copies */
export async function findCopies(
  api: Api,
  filter: SessionFilter,
): Promise<ListedOriginal[] | "not allowed" | "not known"> {
  const [source] = filter.sources?.length === 1 ? filter.sources : [];
  const [sourceId, ...more] = filter.words;
  const wanted: ListedOriginal[] = [];
  const others: ListedOriginal[] = [];
  try {
    if (sourceId !== undefined && more.length === 0)
      for await (const one of listOriginals(api, { sourceId })) if (one.sourceId === sourceId) return [one];
    for await (const one of listOriginals(api, source === undefined ? {} : { source })) {
      if (filter.sources?.length && !filter.sources.includes(one.source)) continue;
      if (filter.project !== undefined && !isNamed(one.project, filter.project)) continue;
      if (matches(one, filter.words)) wanted.push(one);
      else others.push(one);
    }
  } catch (error) {
    if (error instanceof HttpError && error.status === 403) return "not allowed";
    if (error instanceof HttpError && error.status === 404) return "not known";
    throw error;
  }
  if (wanted.length > 0 || filter.words.length === 0) return wanted;
  return findBySaid(api, filter, others);
}

const isNamed = (project: string | null, wanted: string): boolean =>
  project !== null && project.toLowerCase() === wanted.toLowerCase();

function matches({ source, sourceId, title, project, machine }: ListedOriginal, words: readonly string[]): boolean {
  const text = [title, project, source, machine].filter(Boolean).join("\n").toLowerCase();
  return words.every((word) => text.includes(word.toLowerCase()) || (word.length >= 6 && sourceId.startsWith(word)));
}

/** Searches conversations; finds nothing if the token lacks the scope `read`. */
async function findBySaid(api: Api, filter: SessionFilter, copies: ListedOriginal[]): Promise<ListedOriginal[]> {
  const found = await findArchived(api, filter).catch((error) => {
    if (error instanceof HttpError && error.status === 403) return [];
    throw error;
  });
  const known = new Set(found.map(({ source, sourceId }) => `${source}\n${sourceId}`));
  return copies.filter(({ source, sourceId }) => known.has(`${source}\n${sourceId}`));
}

async function findArchived(api: Api, { words, project, sources }: SessionFilter): Promise<Archived[]> {
  const [word = ""] = words;
  const query = new URLSearchParams({ limit: String(maxFound), q: words.join(" "), ...(project && { project }) });
  if (sources?.length === 1 && sources[0]) query.set("source", sources[0]);
  try {
    if (words.length === 1 && isUuid(word)) {
      const { status, body } = await api.request(`/api/traces/${word}`, { returnsErrors: true });
      const trace = status === 200 && isFields(body.trace) ? toArchived(body.trace) : undefined;
      if (trace) return [trace];
    }
    const { body } = await api.request(`/api/traces?${query}`);
    const found = toList(body.traces).filter(isFields).map(toArchived);
    const exact = found.filter(({ sourceId }) => words.length === 1 && sourceId === word);
    return exact.length > 0 ? exact : found;
  } catch (error) {
    if (error instanceof HttpError && error.status === 400) return [];
    throw error;
  }
}

const isUuid = (word: string): boolean => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(word);

const toArchived = (trace: Fields): Archived => ({
  traceId: toText(trace.id),
  source: toText(trace.source),
  sourceId: toText(trace.sourceId),
  title: asString(trace.title)?.toWellFormed() ?? "Untitled session",
  project: toText(trace.project),
});

/** @throws CommandError unless exactly one session matches */
export async function requireArchived(api: Api, filter: SessionFilter): Promise<Archived> {
  const found = await findArchived(api, filter);
  const [first] = found;
  const name = filter.words.join(" ");
  if (!first) throw new CommandError("failed", `You have no session "${name}" on the server.`);
  if (found.length === 1) return first;
  const some = found.slice(0, 5).map(({ sourceId, title }) => `${sourceId} (${title})`);
  throw new CommandError("usage", `"${name}" matches several sessions; choose one by its id: ${some.join(", ")}.`);
}
