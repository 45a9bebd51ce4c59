import { join } from "node:path";
import type { Adapter, Host, SearchRoot } from "../adapter.ts";
import { findConversations, localData, readConversations } from "../kiro/adapter.ts";

const source = "amazon-q";

/** Amazon Q Developer CLI, which became Kiro: a database with the latest conversation of each folder. */
export const amazonQ: Adapter = {
  name: source,
  title: "Amazon Q CLI",
  version: 2,
  searchRoots: (host) => [root(host)],
  discover: (host) => findConversations(join(root(host).path, "data.sqlite3")),
  parse: ({ path }, sink) => readConversations(path, source, sink),
};

function root(host: Host): SearchRoot {
  const data = localData(host);
  return { ...data, path: join(data.path, "amazon-q") };
}
