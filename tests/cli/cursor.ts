import { createHash } from "node:crypto";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import type { Host } from "../../cli/adapters/adapter.ts";
import { makeDatabase } from "./databases.ts";

export const user = ".config/Cursor/User";
export const start = Date.parse("2026-11-01T10:00:00Z");
export const at = (seconds: number) => new Date(start + seconds * 1000).toISOString();

export const keyValue =
  "CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB); CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);";
export type Fields = Record<string, unknown>;

export function put(db: DatabaseSync, key: string, value: unknown): void {
  db.prepare("INSERT INTO cursorDiskKV (key, value) VALUES (?, ?)").run(key, Buffer.from(JSON.stringify(value)));
}

/** A conversation as the editor writes it: a row of its own, and one for each bubble. */
export function converse(db: DatabaseSync, id: string, bubbles: Fields[], about: Fields = {}): void {
  const named = bubbles.map((bubble, index): Fields => ({ bubbleId: `${id}-b${index}`, ...bubble }));
  const headers = named.map(({ bubbleId, type }) => ({ bubbleId, type }));
  const composer = { composerId: id, name: "List", createdAt: start, lastUpdatedAt: start + 9000, ...about };
  put(db, `composerData:${id}`, { _v: 17, fullConversationHeadersOnly: headers, ...composer });
  for (const bubble of named) put(db, `bubbleId:${id}:${bubble.bubbleId}`, { _v: 3, ...bubble });
}

export const editor = (host: Host) => makeDatabase(join(host.home, user, "globalStorage/state.vscdb"), keyValue);
export const asked = { type: 1, text: "List the files.", createdAt: at(1) };
const thought = { type: 2, thinking: { text: "ls." }, thinkingDurationMs: 300, createdAt: at(2) };
const ran = {
  type: 2,
  createdAt: at(3),
  toolFormerData: {
    tool: 15,
    name: "run_terminal_cmd",
    toolCallId: "c1",
    status: "completed",
    rawArgs: '{"command":"ls"}',
    params: "{}",
    result: '{"output":"a.ts\\n","exitCodeV2":0}',
  },
};
export const said = { type: 2, text: "One file.", createdAt: at(4), tokenCount: { inputTokens: 100, outputTokens: 7 } };
export const talk = [asked, thought, ran, said];

/** A message's blob, and the hash by which others list it. */
const makeBlob = (message: unknown) => {
  const data = Buffer.isBuffer(message) ? message : Buffer.from(JSON.stringify(message));
  return { id: createHash("sha256").update(data).digest("hex"), data };
};
const listing = (field: number, id: string) =>
  Buffer.concat([Buffer.from([field * 8 + 2, 32]), Buffer.from(id, "hex")]);

/** A session's database as the CLI writes it. */
export function store(host: Host, id: string, messages: unknown[], meta: Fields = {}): void {
  const db = makeDatabase(
    join(host.home, ".cursor/chats/0123", id, "store.db"),
    "CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB); CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT);",
  );
  const blobs = messages.map(makeBlob);
  // The last two are listed by a node of their own; other fields of a root are numbers and texts.
  const node = makeBlob(Buffer.concat(blobs.slice(-2).map((blob) => listing(1, blob.id))));
  const heads = blobs.slice(0, -2).map((blob) => listing(1, blob.id));
  const root = makeBlob(Buffer.concat([...heads, listing(2, node.id), Buffer.from([0x28, 0x96, 0x01, 0x4a, 1, 0x2f])]));
  for (const blob of [...blobs, node, root])
    db.prepare("INSERT OR IGNORE INTO blobs VALUES (?, ?)").run(blob.id, blob.data);
  const about = {
    agentId: id,
    name: "New Agent",
    createdAt: start,
    latestRootBlobId: root.id,
    lastUsedModel: "auto",
    ...meta,
  };
  db.prepare("INSERT INTO meta VALUES ('0', ?)").run(Buffer.from(JSON.stringify(about)).toString("hex"));
  db.close();
}
