import { join } from "node:path";
import { type Fields, isFields } from "../../files/json.ts";
import type { Adapter, Host, SearchRoot } from "../adapter.ts";
import { findSessions } from "../claude-code/discovery.ts";
import { readIdentity } from "../claude-code/identity.ts";
import type { Dialect } from "../claude-code/messages.ts";
import { parseSession } from "../claude-code/parse.ts";
import { asString } from "../values.ts";

const dialect: Dialect = { source: "iflow", readOutput };

/**
 * iFlow CLI: a file of JSON lines for each session, in Claude Code's format.
 *
 * - An answer comes as several lines, each of which repeats the calls that are under way: each call counts once.
 * - The outputs of tools are as Gemini CLI writes them.
 * - Most answers have no token counts.
 */
export const iflow: Adapter = {
  name: dialect.source,
  title: "iFlow CLI",
  version: 4,
  searchRoots,
  discover: (host) => findSessions(searchRoots(host), (name) => /^session-.*\.jsonl$/.test(name)),
  async parse(input, sink) {
    await parseSession(input, sink, dialect, await readIdentity(input.path));
  },
};

function searchRoots({ home }: Host): SearchRoot[] {
  return [{ path: join(home, ".iflow", "projects") }];
}

/** Reads an output: a function's response, with what was shown to the user beside it. */
function readOutput(content: Fields): { output: string; patch?: string } | undefined {
  const parts = content.responseParts ?? content;
  const responses = (Array.isArray(parts) ? parts : [parts]).filter(isFields).map((part) => part.functionResponse);
  const texts = responses.filter(isFields).map(({ response }) => responseText(response));
  const shown = content.resultDisplay;
  const patch = isFields(shown) ? asString(shown.fileDiff) : undefined;
  if (texts.length === 0 && shown === undefined) return undefined;
  return { output: texts.filter(Boolean).join("\n") || (asString(shown) ?? ""), ...(patch && { patch }) };
}

function responseText(response: unknown): string {
  if (!isFields(response)) return asString(response) ?? "";
  const text = asString(response.output) ?? asString(response.error) ?? asString(response.content);
  return text ?? (Object.keys(response).length > 0 ? JSON.stringify(response) : "");
}
