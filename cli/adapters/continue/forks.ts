import { createHash } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { isMissingOrForbidden, listFolder } from "../../files/discovery.ts";
import { isFields, parseJson } from "../../files/json.ts";
import { readJsonItems } from "../../files/json-items.ts";
import { silentSink } from "../sinks.ts";
import { asFields } from "../values.ts";
import { readUsage } from "./history.ts";

const maxSessions = 1000;

export type Copied = { count: number; from: string };

type DigestedAnswer = { place: number; digest: string; tokens: number };

/**
 * A fork does not name its original: its total is that of its last answers only, and another session has the answer
 * before them.
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
  const from = await findEarliest(last.digest, path, dates);
  return from === undefined ? undefined : { count: last.place, from };
}

async function readAnswers(path: string): Promise<{ answers: DigestedAnswer[]; total: number | undefined }> {
  const answers: DigestedAnswer[] = [];
  let total: number | undefined;
  const item = (json: string, place: number) => {
    const tokens = countTokens(asFields(asFields(parseJson(json)).message).usage);
    if (tokens > 0) answers.push({ place, digest: createHash("sha256").update(json.trim()).digest("hex"), tokens });
  };
  const rest = (json: string) => {
    const { usage } = asFields(parseJson(json));
    if (isFields(usage)) total = countTokens(usage);
  };
  await readJsonItems(path, { list: ["history"], item, rest }, silentSink);
  return { answers, total };
}

function countTokens(usage: unknown): number {
  if (!isFields(usage)) return 0;
  const { inputTokens = 0, outputTokens = 0 } =
    readUsage({ ...usage, promptTokensDetails: undefined, prompt_tokens_details: undefined }) ?? {};
  return inputTokens + outputTokens;
}

async function findEarliest(digest: string, path: string, dates: ReadonlyMap<string, number>) {
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
