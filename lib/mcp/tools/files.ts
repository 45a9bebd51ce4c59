import "server-only";
import { z } from "zod";
import { exactText } from "#lib/fields";
import { Answer, changedLines, citation, linkTo } from "#lib/mcp/answer";
import { named } from "#lib/mcp/quote";
import { narrowing, page } from "#lib/mcp/tools/inputs";
import type { Tool } from "#lib/mcp/tools/tool";
import { readableOf } from "#lib/mcp/within";
import { listTouching } from "#lib/traces/files";

const input = z.object({
  path: exactText(1, 1024).describe("The end of the file's path, such as retry.ts or src/retry.ts."),
  action: z.enum(["any", "changed", "read"]).default("changed").describe("What the session did with the file."),
  since: narrowing.since,
  until: narrowing.until,
  ...page(10),
});

export const findFileHistory: Tool<typeof input> = {
  name: "find_file_history",
  title: "Find a file's history",
  description:
    "List the sessions in which agents changed (or read) a file, newest first, with the lines that each changed and the messages where. Use it to learn why a file is as it is: read_session around such a message has the reasons.",
  input,
  async run({ path, action, since, until, limit, cursor }, reader) {
    const asked = { path, from: since, to: until, action, cursor, limit };
    const { files: all, nextCursor } = await listTouching(reader.userId, asked);
    const ids = await readableOf(
      reader,
      all.map(({ traceId }) => traceId),
    );
    const files = all.filter(({ traceId }) => ids.has(traceId));
    if (files.length === 0 && nextCursor === null)
      return "No session touched such a file. Try only its name, or action any.";
    const answer = new Answer(`Sessions with this file, newest activity first, ${files.length} on this page.`);
    for (const { traceId, edits, reads, added, removed, firstPosition, lastPosition, ...trace } of files) {
      const done = `file ${named(trace.path, 300)}: ${edits} changes${changedLines(added, removed)}, ${reads} reads`;
      const at = `first at #${firstPosition} ${linkTo(traceId, firstPosition)}, last at #${lastPosition}`;
      answer.add(`${citation({ id: traceId, ...trace })}\n${done}, ${at}`);
    }
    return answer.end(nextCursor);
  },
};
