// OpenCode keeps sessions in a database; a copy is in the format of `opencode export`.
import { stat } from "node:fs/promises";
import type { DatabaseSync } from "node:sqlite";
import { listSessions } from "../adapters/opencode/database.ts";
import { makeInputPath, readColumnText, withDatabase } from "../adapters/sqlite.ts";
import { type Fields, isFields, parseJson } from "../files/json.ts";

export type FamilyMember = {
  id: string;
  path: string;
  version: string | undefined;
  bytes: number;
  modifiedAt: number;
  stamp: string;
};

type Listed = FamilyMember & { parent: string | undefined };

const lists = new Map<string, { stamp: string; sessions: Map<string, Listed> }>();

/** The root session comes first. */
export async function listFamily(database: string, id: string): Promise<FamilyMember[]> {
  const sessions = await listAll(database);
  let main = sessions.get(id);
  const seen = new Set<string>();
  while (main?.parent !== undefined && sessions.has(main.parent) && !seen.has(main.id)) {
    seen.add(main.id);
    main = sessions.get(main.parent);
  }
  if (!main) return [];
  const family = [main];
  for (const one of family)
    family.push(...[...sessions.values()].filter((other) => other.parent === one.id && !family.includes(other)));
  return family;
}

async function listAll(path: string): Promise<Map<string, Listed>> {
  const stamp = `${await getStamp(path)} ${await getStamp(`${path}-wal`)}`;
  const known = lists.get(path);
  if (known?.stamp === stamp) return known.sessions;
  const sessions = await withDatabase(path, (database) => {
    const rows = database.prepare("SELECT id, parent_id, version FROM session").all();
    const about = new Map(rows.map((row) => [makeInputPath(path, String(row.id)), row]));
    const listed = listSessions(path, database).flatMap((input): [string, Listed][] => {
      const row = about.get(input.path);
      if (!row) return [];
      const [id, parent, version] = [String(row.id), toOptional(row.parent_id), toOptional(row.version)];
      return [[id, { ...input, id, parent, version }]];
    });
    return new Map(listed);
  });
  lists.set(path, { stamp, sessions });
  return sessions;
}

const getStamp = (path: string): Promise<string> =>
  stat(path).then(
    ({ size, mtimeMs, ino }) => `${size}:${mtimeMs}:${ino}`,
    () => "",
  );

const toOptional = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/**
 * Writes the output of `opencode export`, with the rows' JSON unchanged.
 *
 * @throws if a row is not a JSON object or the session is gone
 */
export function readExport(path: string, id: string): Promise<Buffer> {
  return withDatabase(path, (database) => {
    const row = database.prepare("SELECT * FROM session WHERE id = ?").get(id);
    if (!row) throw new Error(`session ${id} is gone`);
    const parts = readParts(database, id);
    const rows = database
      .prepare("SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id")
      .all(id);
    const messages = rows.map((message) => {
      const info = addIds(message.data, { id: message.id, sessionID: id });
      return `{"info":${info},"parts":[${(parts.get(String(message.id)) ?? []).join(",")}]}`;
    });
    return Buffer.from(`{"info":${JSON.stringify(toInfo(row))},"messages":[\n${messages.join(",\n")}\n]}\n`);
  });
}

function readParts(database: DatabaseSync, sessionID: string): Map<string, string[]> {
  const parts = new Map<string, string[]>();
  const rows = database
    .prepare("SELECT id, message_id, data FROM part WHERE session_id = ? ORDER BY id")
    .all(sessionID);
  for (const { id, message_id: messageID, data } of rows) {
    const known = parts.get(String(messageID));
    const part = addIds(data, { id, sessionID, messageID });
    if (known) known.push(part);
    else parts.set(String(messageID), [part]);
  }
  return parts;
}

function addIds(data: unknown, ids: Fields): string {
  const text = (readColumnText(data) ?? "").trim();
  const value = parseJson(text);
  if (!isFields(value)) throw new Error(`row ${ids.id} is not a JSON object`);
  const added = JSON.stringify(ids).slice(1);
  return Object.keys(value).length === 0 ? `{${added}` : `${text.slice(0, -1)},${added}`;
}

function toInfo(row: Fields): Fields {
  const info: Fields = {
    id: row.id,
    slug: row.slug,
    projectID: row.project_id,
    workspaceID: row.workspace_id,
    parentID: row.parent_id,
    directory: row.directory,
    path: row.path,
    title: row.title,
    version: row.version,
    summary: readSummary(row),
    share: typeof row.share_url === "string" ? { url: row.share_url } : undefined,
    metadata: parseColumn(row.metadata),
    revert: parseColumn(row.revert),
    permission: parseColumn(row.permission),
    agent: row.agent,
    model: parseColumn(row.model),
    cost: row.cost,
    tokens: isCounted(row) ? readTokens(row) : undefined,
    time: dropEmpty({
      created: row.time_created,
      updated: row.time_updated,
      compacting: row.time_compacting,
      archived: row.time_archived,
    }),
  };
  return dropEmpty(info);
}

function readSummary(row: Fields): Fields | undefined {
  const { summary_additions: additions, summary_deletions: deletions, summary_files: files } = row;
  if ([additions, deletions, files].every((count) => count === null || count === undefined)) return undefined;
  return dropEmpty({
    additions: additions ?? 0,
    deletions: deletions ?? 0,
    files: files ?? 0,
    diffs: parseColumn(row.summary_diffs),
  });
}

const isCounted = (row: Fields): boolean => typeof row.tokens_input === "number";

const readTokens = (row: Fields): Fields => ({
  input: row.tokens_input,
  output: row.tokens_output,
  reasoning: row.tokens_reasoning,
  cache: { read: row.tokens_cache_read, write: row.tokens_cache_write },
});

const parseColumn = (value: unknown): unknown => (typeof value === "string" ? parseJson(value) : undefined);

const dropEmpty = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));
