import { join } from "node:path";
import { type Fields, isFields } from "../../files/json.ts";
import type { Adapter, Host, SearchRoot } from "../adapter.ts";
import { formatResponse } from "../gemini/response-parts.ts";
import { getHomeRoot } from "../search-roots.ts";
import { asFields, asString, joinTexts } from "../values.ts";
import { findSessions } from "./discovery.ts";
import { readIdentity } from "./identity.ts";
import type { Dialect } from "./messages.ts";
import { parseSession } from "./parse.ts";

type ClaudeRelative = Omit<Dialect, "source"> & {
  name: string;
  title: string;
  version: number;
  root(host: Host): SearchRoot;
  /** The default is Claude Code's naming. */
  isSession?(name: string): boolean;
};

function makeAdapter({ name, title, version, root, isSession, ...dialect }: ClaudeRelative): Adapter {
  return {
    name,
    title,
    version,
    getSearchRoots: (host) => [root(host)],
    discover: (host) => findSessions([root(host)], isSession),
    async parse(input, sink) {
      await parseSession(input, sink, { source: name, ...dialect }, await readIdentity(input.path));
    },
  };
}

export const openclaude = makeAdapter({
  name: "openclaude",
  title: "OpenClaude",
  version: 5,
  root: (host) => getHomeRoot(host, "OPENCLAUDE_CONFIG_DIR", ".openclaude", "projects"),
});

export const iflow = makeAdapter({
  name: "iflow",
  title: "iFlow CLI",
  version: 4,
  root: ({ home }) => ({ path: join(home, ".iflow", "projects") }),
  isSession: (name) => /^session-.*\.jsonl$/.test(name),
  readOutput(content: Fields) {
    const parts = content.responseParts ?? content;
    const responses = (Array.isArray(parts) ? parts : [parts]).filter(isFields).map((part) => part.functionResponse);
    const texts = responses
      .filter(isFields)
      .map(({ response }) => formatResponse(response, ["output", "error", "content"]));
    const shown = content.resultDisplay;
    const patch = asString(asFields(shown).fileDiff);
    if (texts.length === 0 && shown === undefined) return undefined;
    return { output: joinTexts(texts) || (asString(shown) ?? ""), ...(patch && { patch }) };
  },
});
