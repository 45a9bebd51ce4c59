import { realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { findFiles } from "../../files/discovery.ts";
import type { Adapter, Host, SearchRoot } from "../adapter.ts";
import { readSession } from "../pi/adapter.ts";
import { getHomeRoot } from "../search-roots.ts";

const source = "openclaw";

/** A session that was reset or deleted is kept as `.jsonl.reset.TIME` or `.jsonl.deleted.TIME`. */
const sessionFile = /^(.+)\.jsonl(?:\.(?:reset|deleted)\.[^/\\]+)?$/;

const folders = [".openclaw", ".moltbot", ".clawdbot"];

export const openclaw: Adapter = {
  name: source,
  title: "OpenClaw",
  version: 4,
  getSearchRoots,
  async *discover(host) {
    const searched = new Set<string>();
    for (const { path } of getSearchRoots(host)) {
      // A folder with an earlier name may be a link to the current one.
      const real = await realpath(path).catch(() => path);
      if (searched.has(real)) continue;
      searched.add(real);
      for await (const input of findFiles(path, (name) => sessionFile.test(name))) {
        if (basename(dirname(input.path)) === "sessions" || input.stamp === "forbidden") yield input;
      }
    }
  },
  async parse(input, sink) {
    const [, id = basename(input.path)] = sessionFile.exec(basename(input.path)) ?? [];
    await readSession(input, sink, { source, id, prefix: `${basename(dirname(dirname(input.path)))}/` });
  },
};

function getSearchRoots(host: Host): SearchRoot[] {
  const { home, env } = host;
  if (env.OPENCLAW_STATE_DIR) return [getHomeRoot(host, "OPENCLAW_STATE_DIR", "", "agents")];
  return folders.map((name) => ({ path: join(home, name, "agents") }));
}
