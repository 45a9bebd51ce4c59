import "server-only";
import { z } from "zod";
import { exactText } from "#lib/core/fields";
import { limits } from "#lib/core/limits";
import { listTouching } from "#lib/files/files";
import { AgentAnswer, changedLines, citation, linkTo } from "#lib/mcp/answer";
import { openCursor, sealCursor } from "#lib/mcp/cursor";
import { named } from "#lib/mcp/quote";
import { narrowing, page, type Tool, within } from "#lib/mcp/tools/tool";

const input = z.object({
  path: exactText(1, 1024).describe("The end of the file's path, such as retry.ts or src/retry.ts."),
  action: z.enum(["any", "changed", "read"]).default("changed").describe("What the session did with the file."),
  since: narrowing.since,
  until: narrowing.until,
  ...page(10),
});

const name = "find_file_history";

export const findFileHistory: Tool<typeof input> = {
  name,
  title: "Find a file's history",
  description:
    "List the sessions in which agents changed (or read) a file, newest first, with changed lines and the messages. Use it to learn why a file is the way it is: read_session around such a message shows the reasons.",
  input,
  async run({ path, action, since, until, limit, cursor }, reader) {
    const { onlyProjectId } = within(reader);
    const asked = { path, from: since, to: until, onlyProjectId, action, limit };
    const after = openCursor(reader, name, cursor);
    const { files, nextCursor } = await listTouching(reader.userId, { ...asked, cursor: after });
    if (files.length === 0 && nextCursor === null)
      return "No session touched such a file. Try its name alone, or action any.";
    const next = sealCursor(reader, name, nextCursor);
    const head = `Sessions with this file, newest activity first, ${files.length} on this page.`;
    // The cursor contains the path, which may be long.
    const answer = new AgentAnswer(head, limits.mcp.answerBytes - (next?.length ?? 0));
    for (const { traceId, edits, reads, added, removed, firstPosition, lastPosition, ...trace } of files) {
      const done = `file ${named(trace.path, 300)}: ${edits} changes${changedLines(added, removed)}, ${reads} reads`;
      const at = `first at #${firstPosition} ${linkTo(traceId, firstPosition)}, last at #${lastPosition}`;
      answer.add(`${citation({ id: traceId, ...trace })}\n${done}, ${at}`);
    }
    return answer.end(next);
  },
};
