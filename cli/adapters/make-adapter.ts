import type { DatabaseSync } from "node:sqlite";
import { findFiles } from "../files/discovery.ts";
import type { Adapter, Host, Input, Sink } from "./adapter.ts";
import { addStamp } from "./session-files.ts";
import { findSessions, type ListSessions, readDatabase } from "./sqlite.ts";

type FileAdapter = Omit<Adapter, "discover"> & {
  /** Takes a file's name without its folder. */
  matches(name: string): boolean;
  /** Tells whether a file with such a name is an input; a folder that may not be read always is one. */
  accepts?(input: Input, root: string): boolean | Promise<boolean>;
  /** Returns another file with which the input's stamp also changes. */
  getSibling?(path: string): string;
};

/** Makes an adapter whose inputs are the files below its folders. */
export function makeFileAdapter({ matches, accepts, getSibling, ...adapter }: FileAdapter): Adapter {
  return {
    ...adapter,
    async *discover(host) {
      for (const { path: root } of adapter.getSearchRoots(host)) {
        for await (const input of findFiles(root, matches)) {
          const isInput = input.stamp === "forbidden" || !accepts || (await accepts(input, root));
          if (isInput) yield getSibling ? await addStamp(input, getSibling(input.path)) : input;
        }
      }
    },
  };
}

type DatabaseAdapter = Omit<Adapter, "discover" | "parse"> & {
  /** Returns the paths of the databases. */
  databases(host: Host): string[];
  list: ListSessions;
  read(database: DatabaseSync, id: string, sink: Sink): Promise<void>;
};

/** Makes an adapter whose inputs are the sessions in SQLite databases. */
export const makeDatabaseAdapter = ({ databases, list, read, ...adapter }: DatabaseAdapter): Adapter => ({
  ...adapter,
  async *discover(host) {
    for (const path of databases(host)) yield* await findSessions(path, list);
  },
  parse: ({ path }, sink) => readDatabase(path, sink, list, (database, id) => read(database, id, sink)),
});
