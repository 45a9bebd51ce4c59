import type { DatabaseSync } from "node:sqlite";
import { type Fields, isFields, parseJson } from "../../files/json.ts";
import type { Input, Sink } from "../adapter.ts";
import { SessionBuilder } from "../session-builder.ts";
import { hasColumn, makeInputPath, readJsonColumn, selectBounded } from "../sqlite.ts";
import { asFields, asString, listFields } from "../values.ts";
import { findTime, readBubble, readUsage } from "./bubbles.ts";
import { findFolder, getWorkspaceFolder } from "./places.ts";
import { source } from "./text.ts";

const table = "cursorDiskKV";
const conversationPrefix = "composerData:";
const bubblePrefix = "bubbleId:";
/** The next character after `:` ends the keys with a prefix. */
const getPrefixEnd = (prefix: string): string => `${prefix.slice(0, -1)};`;

/** A row that is written again gets a new `rowid`. */
export function listConversations(path: string, database: DatabaseSync): Input[] {
  if (!hasColumn(database, table, "key")) return [];
  const sizes = database.prepare(
    `SELECT count(*) AS rows, coalesce(max(rowid), 0) AS latest, coalesce(sum(octet_length(value)), 0) AS bytes
    FROM ${table} WHERE key >= ? AND key < ?`,
  );
  const rows = database
    .prepare(
      `SELECT key, rowid AS id, octet_length(value) AS bytes,
        CASE WHEN json_valid(CAST(value AS TEXT)) THEN json_extract(CAST(value AS TEXT), '$.lastUpdatedAt', '$.createdAt',
          '$.conversation[0].type') END AS times
      FROM ${table} WHERE key >= ? AND key < ? ORDER BY key`,
    )
    .iterate(conversationPrefix, getPrefixEnd(conversationPrefix));
  const inputs: Input[] = [];
  for (const row of rows) {
    const id = String(row.key).slice(conversationPrefix.length);
    const bubbles = `${bubblePrefix}${id}:`;
    const size: Fields = sizes.get(bubbles, getPrefixEnd(bubbles)) ?? {};
    const times = parseJson(asString(row.times) ?? "[]");
    const [updated, created, inline] = Array.isArray(times) ? times : [];
    if (id === "" || (size.rows === 0 && typeof inline !== "number")) continue;
    const modifiedAt = [updated, created].find((time): time is number => typeof time === "number" && time > 0);
    inputs.push({
      path: makeInputPath(path, id),
      bytes: Number(row.bytes) + Number(size.bytes),
      modifiedAt: modifiedAt ?? 0,
      stamp: [row.id, row.bytes, size.rows, size.latest, size.bytes].join(":"),
    });
  }
  return inputs;
}

export async function readConversation(
  database: DatabaseSync,
  id: string,
  databasePath: string,
  sink: Sink,
): Promise<void> {
  const statement = database.prepare(`SELECT ${selectBounded("value")} FROM ${table} WHERE key = ?`);
  const read = (key: string, label: string): Fields | undefined => {
    sink.entry();
    const row = statement.get(key);
    if (typeof row?.valueSize === "number") return readJsonColumn(row, "value", label, sink);
    sink.invalid(`${label} is missing`);
    return undefined;
  };
  const composer = read(conversationPrefix + id, `conversation ${id}`);
  if (!composer) return;
  sink.skipped();
  const session = new SessionBuilder(sink, source, id);
  const model = asFields(composer.modelConfig).modelName;
  const add = (bubble: Fields): void => {
    const messages = readBubble(bubble, (type) => sink.unhandled(type));
    const named = asString(asFields(bubble.modelInfo).modelName);
    session.add(messages, {
      at: findTime(bubble),
      usage: readUsage(bubble),
      ...(bubble.type === 2 && { model: named ?? model }),
      uuid: bubble.bubbleId,
      requestId: bubble.requestId,
    });
  };
  await noteDetails(session, composer, { database, databasePath });
  const inline = listFields(composer.conversation);
  const tools = listTools(composer);
  for (const bubble of inline) {
    sink.entry();
    add({ ...bubble, toolFormerData: bubble.toolFormerData ?? tools.get(asString(bubble.bubbleId) ?? "") });
  }
  const headers = Array.isArray(composer.fullConversationHeadersOnly) ? composer.fullConversationHeadersOnly : [];
  const known = new Set(inline.map(({ bubbleId }) => bubbleId));
  for (const header of headers.filter(isFields)) {
    const bubbleId = asString(header.bubbleId);
    if (!bubbleId || known.has(bubbleId)) continue;
    const bubble = read(`${bubblePrefix}${id}:${bubbleId}`, `message ${bubbleId}`);
    if (bubble) add({ ...bubble, bubbleId, createdAt: bubble.createdAt ?? header.createdAt });
    await sink.pause();
  }
  session.end();
}

async function noteDetails(
  session: SessionBuilder,
  composer: Fields,
  { database, databasePath }: { database: DatabaseSync; databasePath: string },
): Promise<void> {
  const workspace = composer.workspaceIdentifier;
  const workspaceId = asFields(workspace).id;
  const folder = getWorkspaceFolder(workspace) ?? (await findFolder(database, databasePath, session.id, workspaceId));
  session.noteFolder(folder);
  session.noteTitle(composer.name);
  session.noteTime(composer.createdAt);
  const branch = asFields(composer.activeBranch).branchName;
  session.note("branch", composer.createdOnBranch ?? branch);
  if (isFields(composer.subagentInfo)) session.note("parent", composer.subagentInfo.parentComposerId);
}

/** The first version kept tools apart from bubbles, as JSON in a text. */
function listTools({ capabilities }: Fields): Map<string, Fields> {
  const tools = new Map<string, Fields>();
  for (const capability of Array.isArray(capabilities) ? capabilities : []) {
    const data = asFields(asFields(capability).data).bubbleDataMap;
    const byBubble = typeof data === "string" ? parseJson(data) : data;
    for (const [id, tool] of isFields(byBubble) ? Object.entries(byBubble) : []) {
      if (isFields(tool)) tools.set(id, tool);
    }
  }
  return tools;
}
