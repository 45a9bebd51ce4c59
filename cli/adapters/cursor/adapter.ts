import { basename } from "node:path";
import { findFiles, statInput } from "../../files/discovery.ts";
import type { Adapter, Input } from "../adapter.ts";
import { findSessions, hasSqlite, makeInputPath, readDatabase, splitInputPath } from "../sqlite.ts";
import { listConversations, readConversation } from "./composer.ts";
import { getDataFolders, getEditorDatabase, getSearchRoots } from "./places.ts";
import { findStore, getStoreId, hasMessages, readStore } from "./store.ts";
import { source } from "./text.ts";
import { getTranscriptId, isInJson, isPlain, isTranscript, readTranscript } from "./transcript.ts";

const storeName = "store.db";

export const cursor: Adapter = {
  name: source,
  title: "Cursor",
  version: 4,
  getSearchRoots,
  async *discover(host) {
    const known = new Set<string>();
    const database = getEditorDatabase(host);
    for (const input of await findSessions(database, listConversations)) {
      const { id } = splitInputPath(input.path);
      if (id !== undefined) known.add(id);
      yield input;
    }
    const { stores, projects } = getDataFolders(host);
    const databases = new Map<string, Input>();
    let hasReported = known.size === 0 && (await statInput(database)) !== undefined;
    for (const folder of stores) {
      for await (const { path, ...file } of findFiles(folder, (name) => name === storeName)) {
        const input = file.stamp === "forbidden" ? { path, ...file } : await findStore(path);
        if (!input || known.has(getStoreId(path))) continue;
        const session = { ...input, path: makeInputPath(path, getStoreId(path)) };
        if (hasSqlite()) {
          known.add(getStoreId(path));
          databases.set(getStoreId(path), input);
          yield session;
        } else if (!hasReported) {
          // One of the databases reports why none is read.
          hasReported = true;
          yield { ...session, stamp: "needs SQLite", needsNewerNode: true };
        }
      }
    }
    for await (const input of findFiles(projects, (name) => /\.(?:jsonl|txt)$/.test(name))) {
      if (input.stamp === "forbidden") yield input;
      if (input.stamp === "forbidden" || !isTranscript(input.path)) continue;
      const store = databases.get(getTranscriptId(input.path));
      if (store ? await hasMessages(store) : known.has(getTranscriptId(input.path))) continue;
      if (!isPlain(input.path) || !(await isInJson(input.path))) yield input;
    }
  },
  async parse({ path }, sink) {
    if (isTranscript(path)) return readTranscript(path, sink);
    await readDatabase(path, sink, listConversations, (database, id, file) =>
      basename(file) === storeName ? readStore(database, file, sink) : readConversation(database, id, file, sink),
    );
  },
};
