// Repairs a local Claude Code session whose thinking the API refuses.
import { randomBytes } from "node:crypto";
import { copyFile, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { asFields, asString, listFields } from "../adapters/values.ts";
import { CommandError } from "../errors.ts";
import { type Fields, isFields, parseJson } from "../files/json.ts";
import { isThought, withoutThoughts } from "./clean-claude.ts";
import { findClaudeProjects } from "./places.ts";

export type Repaired = { path: string; copy: string; removed: number };

type Line = { text: string; record: Fields | undefined };

/**
 * Backs up the file, then removes thinking from the first refused block on; the bytes before it stay unchanged.
 *
 * @param all removes all thinking, even if none is known to be refused
 * @throws CommandError if there is no such session, or nothing to repair
 */
export async function repairClaude(home: string, id: string, all: boolean): Promise<Repaired> {
  const path = await findSession(home, id);
  const before = await stat(path);
  const text = (await readFile(path)).toString("latin1");
  const lines = text.split("\n").map((line): Line => ({ text: line, record: readLine(line) }));
  const first = all ? lines.findIndex(hasThought) : findFirstBad(lines);
  if (first === -1)
    throw new CommandError(
      "failed",
      `The API is not known to refuse any thinking in ${path}. Remove all of it with --force.`,
    );
  const mended = removeThoughts(lines, first);
  const copy = `${path}.before-repair-${new Date().toISOString().replace(/\D/g, "").slice(0, 14)}`;
  const draft = `${path}.${randomBytes(6).toString("hex")}`;
  await copyFile(path, copy);
  try {
    await writeFile(draft, Buffer.from(mended.text, "latin1"), { mode: before.mode });
    const now = await stat(path);
    if (now.size !== before.size || now.mtimeMs !== before.mtimeMs)
      throw new CommandError("failed", `${path} changed meanwhile. End the session in Claude Code first.`);
    await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
  return { path, copy, removed: mended.removed };
}

async function findSession(home: string, id: string): Promise<string> {
  if (!/^[\w-]+$/.test(id)) throw new CommandError("usage", `"${id}" is not the id of a Claude Code session.`);
  const projects = await findClaudeProjects(home, id);
  const [project] = projects;
  if (project === undefined) throw new CommandError("failed", `Claude Code has no session ${id} on this machine.`);
  if (projects.length === 1) return join(home, "projects", project, `${id}.jsonl`);
  throw new CommandError("failed", `Claude Code has the session ${id} in several folders: ${projects.join(", ")}.`);
}

/** Lines are Latin-1 strings, one character per byte, so that kept bytes stay unchanged. */
function readLine(line: string): Fields | undefined {
  const read = parseJson(Buffer.from(line, "latin1").toString());
  return isFields(read) ? read : undefined;
}

const listBlocks = ({ record }: Line): Fields[] =>
  record?.type === "assistant" ? listFields(asFields(record.message).content) : [];

const hasThought = (line: Line): boolean => listBlocks(line).some(isThought);

/** Finds the first block without a signature, or the one that the API's error names. */
function findFirstBad(lines: readonly Line[]): number {
  const unsigned = lines.findIndex((line) =>
    listBlocks(line).some((block) => isThought(block) && !asString(block.signature) && !asString(block.data)),
  );
  const refusal = lines.findLastIndex(({ record }) => record?.isApiErrorMessage === true && isAboutThoughts(record));
  if (refusal === -1) return unsigned;
  const refused = findRefused(lines, refusal);
  return unsigned === -1 ? refused : Math.min(unsigned, refused);
}

const getText = (record: Fields): string =>
  listFields(asFields(record.message).content)
    .map(({ text }) => asString(text) ?? "")
    .join("\n");

const isAboutThoughts = (record: Fields): boolean =>
  /\b400\b/.test(getText(record)) && /thinking|signature/i.test(getText(record));

/** The API's error counts consecutive messages of one role as one. */
function findRefused(lines: readonly Line[], refusal: number): number {
  const record = lines[refusal]?.record ?? {};
  const wanted = /messages\.(\d+)\.content/.exec(getText(record))?.[1];
  const start = lines.findLastIndex((line) => line.record?.subtype === "compact_boundary") + 1;
  let [index, role] = [-1, ""];
  for (const [at, line] of lines.entries()) {
    if (wanted === undefined || at < start || at >= refusal) continue;
    const said = getRole(line);
    if (said === undefined) continue;
    if (said !== role) index++;
    role = said;
    if (index === Number(wanted) && hasThought(line)) return at;
  }
  return lines.findIndex(hasThought);
}

function getRole({ record }: Line): string | undefined {
  if (!record || record.isSidechain === true || record.isApiErrorMessage === true) return undefined;
  if (record.type === "attachment") return "user";
  return record.type === "user" || record.type === "assistant" ? String(record.type) : undefined;
}

/** Lines that only contain thinking are removed, and the next line's parent becomes the line before. */
function removeThoughts(lines: readonly Line[], first: number): { text: string; removed: number } {
  const parents = new Map<string, unknown>();
  let removed = 0;
  const kept = lines.flatMap(({ text, record }, at): string[] => {
    if (!record || at < first) return [text];
    const cleaned = withoutThoughts(record);
    removed += cleaned?.removed ?? 0;
    if (cleaned && !cleaned.record) {
      const parent = parents.has(String(record.parentUuid))
        ? parents.get(String(record.parentUuid))
        : record.parentUuid;
      if (typeof record.uuid === "string") parents.set(record.uuid, parent ?? null);
      return [];
    }
    const own = cleaned?.record ?? record;
    const names = ["parentUuid", "logicalParentUuid", "leafUuid"].filter((name) => parents.has(String(own[name])));
    if (!cleaned && names.length === 0) return [text];
    const moved = Object.fromEntries(names.map((name) => [name, parents.get(String(own[name]))]));
    return [Buffer.from(JSON.stringify({ ...own, ...moved })).toString("latin1")];
  });
  return { text: kept.join("\n"), removed };
}
