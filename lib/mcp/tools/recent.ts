import "server-only";
import { z } from "zod";
import { AgentAnswer, changedLines, citation } from "#lib/mcp/answer";
import { openCursor, sealCursor } from "#lib/mcp/cursor";
import { narrowing, page, type Tool, toFilter, within } from "#lib/mcp/tools/tool";
import { listTraces } from "#lib/traces/queries";
import { formatQuantity } from "#lib/transcript/text";

const input = z.object({ ...narrowing, ...page(10) });

const name = "list_recent";

export const listRecent: Tool<typeof input> = {
  name,
  title: "List recent sessions",
  description:
    "List this person's latest coding-agent sessions, newest activity first, without sub-agents. Use it to see recent work, in one project or in all.",
  input,
  async run({ limit, cursor, ...given }, reader) {
    const { traces, nextCursor } = await listTraces(
      reader.userId,
      { ...toFilter(given), ...within(reader), roots: true },
      { cursor: openCursor(reader, name, cursor), limit },
    );
    if (traces.length === 0) return "There are no such sessions.";
    const answer = new AgentAnswer(`Sessions, newest activity first, ${traces.length} on this page.`);
    for (const trace of traces) {
      const { messageCount, filesChanged, linesAdded, linesRemoved } = trace;
      const changed =
        filesChanged > 0
          ? `${formatQuantity(filesChanged, "file")} changed${changedLines(linesAdded, linesRemoved)}`
          : undefined;
      answer.add(citation(trace, [formatQuantity(messageCount, "message"), changed]));
    }
    return answer.end(sealCursor(reader, name, nextCursor));
  },
};
