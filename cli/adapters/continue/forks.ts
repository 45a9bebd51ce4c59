import { createHash } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { isMissingOrForbidden, listFolder } from "../../files/discovery.ts";
import { isFields, parseJson } from "../../files/json.ts";
import { readJsonItems } from "../../files/json-items.ts";
import { readUsage } from "./history.ts";

/** So many other sessions are searched for what a fork copied. */
const maxSessions = 1000;

/** The messages at a fork's beginning that are another session's. */
export type Copied = { count: number; from: string };

type Answer = { place: number; digest: string; tokens: number };

/**
 * Finds what a fork copied. It doesn't say so: but its own total is that of its last answers only, and the other session has the
 * answer before them.
 *
 * @param dates when sessions began, by their ids
 */
export async function findCopied(path: string, dates: ReadonlyMap<string, number>): Promise<Copied | undefined> {
  const { answers, total } = await readAnswers(path);
  if (total === undefined) return undefined;
  let own = 0;
  const last = answers.findLast(({ tokens }) => {
    if (own === total) return true;
    own += tokens;
    return false;
  });
  if (!last) return undefined;
  const from = await earliestWith(last.digest, path, dates);
  return from === undefined ? undefined : { count: last.place, from };
}

/** A session's answers that tell their tokens, and the total that it tells. */
async function readAnswers(path: string): Promise<{ answers: Answer[]; total: number | undefined }> {
  const answers: Answer[] = [];
  let total: number | undefined;
  const item = (json: string, place: number) => {
    const value = parseJson(json);
    const tokens = isFields(value) && isFields(value.message) ? tokensIn(value.message.usage) : 0;
    if (tokens > 0) answers.push({ place, digest: createHash("sha256").update(json.trim()).digest("hex"), tokens });
  };
  const rest = (json: string) => {
    const details = parseJson(json);
    if (isFields(details) && isFields(details.usage)) total = tokensIn(details.usage);
  };
  await readJsonItems(path, { list: ["history"], item, rest }, { tooLong() {}, pause: async () => {} });
  return { answers, total };
}

/** The prompt's and the answer's tokens, which both the answers and the total tell. */
function tokensIn(usage: unknown): number {
  if (!isFields(usage)) return 0;
  const { inputTokens = 0, outputTokens = 0 } =
    readUsage({ ...usage, promptTokensDetails: undefined, prompt_tokens_details: undefined }) ?? {};
  return inputTokens + outputTokens;
}

/** The id of the earliest session before this one that has an answer; undefined where there is none. */
async function earliestWith(digest: string, path: string, dates: ReadonlyMap<string, number>) {
  const folder = dirname(path);
  const getDate = (id: string) => dates.get(id) ?? Number.POSITIVE_INFINITY;
  const own = getDate(basename(path, ".json"));
  const others = (await listFolder(folder))
    .filter(({ name }) => name.endsWith(".json") && name !== "sessions.json" && name !== basename(path))
    .map(({ name }) => basename(name, ".json"))
    .filter((id) => getDate(id) < own)
    .sort((a, b) => getDate(a) - getDate(b));
  for (const id of others.slice(-maxSessions)) {
    if (await hasAnswer(join(folder, `${id}.json`), digest)) return id;
  }
  return undefined;
}

async function hasAnswer(path: string, digest: string): Promise<boolean> {
  try {
    return (await readAnswers(path)).answers.some((answer) => answer.digest === digest);
  } catch (error) {
    if (isMissingOrForbidden(error)) return false;
    throw error;
  }
}
