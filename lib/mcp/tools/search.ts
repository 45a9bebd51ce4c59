import "server-only";
import { z } from "zod";
import { exactText } from "#lib/core/fields";
import { limits } from "#lib/core/limits";
import { heavyTurn } from "#lib/db/heavy";
import { AgentAnswer, citation, linkTo } from "#lib/mcp/answer";
import { openCursor, sealCursor } from "#lib/mcp/cursor";
import { type FoundMessages, findSessions, splitWords } from "#lib/mcp/find-sessions";
import { named, quotation } from "#lib/mcp/quote";
import { cutExcerpt } from "#lib/mcp/talk";
import { narrowing, page, type Tool, toFilter, within } from "#lib/mcp/tools/tool";
import { readMessagesAt } from "#lib/messages/read-messages";
import { formatQuantity } from "#lib/transcript/text";

const input = z.object({
  query: exactText(1, limits.traces.query).describe(
    'What to look for: words, "a phrase in quotes", an identifier, a path, file:src/x.ts for sessions that touched a file, changed:src/x.ts for those that changed it. All of it has to be found.',
  ),
  ...narrowing,
  ...page(8),
});

const maxExcerpts = 2;

const name = "search_sessions";

export const searchSessions: Tool<typeof input> = {
  name,
  title: "Search past sessions",
  description:
    "Find earlier coding-agent sessions of this person, from all machines and agents, by what was said or done in them: decisions, commands, errors, files, names. Returns sessions with excerpts and the position of each message; continue with read_session. Use few, distinctive words.",
  input,
  async run({ query, limit, cursor, ...given }, reader) {
    const { userId } = reader;
    const { found, nextCursor, isPartial, corrected } = await findSessions(
      userId,
      { q: query, ...toFilter(given), ...within(reader) },
      { cursor: openCursor(reader, name, cursor), limit },
    );
    if (found.length === 0) return "No session has all of this. Try fewer or other words, or without the filters.";
    const instead =
      corrected === undefined
        ? ""
        : `No session has all of these words; searched for ${named(corrected, 300)} instead. `;
    const what = isPartial
      ? "No session has all of this; sessions with most of it"
      : "Sessions that match, the best first";
    const answer = new AgentAnswer(`${instead}${what}, ${found.length} on this page.`);
    const blocks = await heavyTurn(userId, () => writeBlocks(userId, found, splitWords(corrected ?? query)));
    for (const block of blocks) answer.add(block);
    return answer.end(sealCursor(reader, name, nextCursor));
  },
};

async function writeBlocks(userId: string, found: FoundMessages[], words: string[]): Promise<string[]> {
  const blocks: string[] = [];
  for (const { trace, positions } of found) {
    const messages = await readMessagesAt(userId, trace.id, positions.slice(0, maxExcerpts));
    const excerpts = messages.map(
      (message) =>
        `#${message.position} · ${message.createdAt ?? "no time"} · ${linkTo(trace.id, message.position)}\n${quotation(cutExcerpt(message, words))}`,
    );
    blocks.push([citation(trace, [formatQuantity(trace.messageCount, "message")]), ...excerpts].join("\n"));
  }
  return blocks;
}
