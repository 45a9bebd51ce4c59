import type { DatabaseSync } from "node:sqlite";
import { findFiles } from "../files/discovery.ts";
import type { Adapter, Host, Input, Sink } from "./adapter.ts";
import { addStamp } from "./session-files.ts";
import { findSessions, type ListSessions, readDatabase } from "./sqlite.ts";

type FileAdapter = Omit<Adapter, "discover"> & {
  matches(name: string): boolean;
  /** A folder that may not be read is always an input. */
  accepts?(input: Input, root: string): boolean | Promise<boolean>;
  /** The input's stamp also changes with this file. */
  getSibling?(path: string): string;
};

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
  databases(host: Host): string[];
  list: ListSessions;
  read(database: DatabaseSync, id: string, sink: Sink): Promise<void>;
};

export const makeDatabaseAdapter = ({ databases, list, read, ...adapter }: DatabaseAdapter): Adapter => ({
  ...adapter,
  async *discover(host) {
    for (const path of databases(host)) yield* await findSessions(path, list);
  },
  parse: ({ path }, sink) => readDatabase(path, sink, list, (database, id) => read(database, id, sink)),
});
