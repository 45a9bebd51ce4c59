import "server-only";
import { z } from "zod";
import { usedTokens } from "#lib/core/fields";
import { limits } from "#lib/core/limits";
import { heavyTurn } from "#lib/db/heavy";
import { listTraceFiles } from "#lib/files/files";
import { AgentAnswer, changedLines, citation } from "#lib/mcp/answer";
import { named } from "#lib/mcp/quote";
import { showMessage } from "#lib/mcp/talk";
import { type AgentReader, isReadable, requireReadable, session, type Tool } from "#lib/mcp/tools/tool";
import { readEarlier, readMessages } from "#lib/messages/read-messages";
import type { Message } from "#lib/messages/schema";
import { getWholeTrace, type WholeTrace } from "#lib/traces/evidence";
import { formatQuantity } from "#lib/transcript/text";

const input = z.object({ session });

export const sessionSummary: Tool<typeof input> = {
  name: "session_summary",
  title: "Summarize a session",
  description:
    "The facts of one earlier session: first request, last answer, changed files, branches, commits, pull requests, size and cost. No model is called. Use it before reading a whole session.",
  input,
  async run({ session: id }, reader) {
    return summarizeTrace(id, reader);
  },
};

/** At the start and at the end of a session. */
const looked = { limit: 60, maxBytes: 512 * 1024, maxMessageBytes: 512 * 1024 };
const maxListed = 20;

export async function summarizeTrace(id: string, reader: AgentReader): Promise<string> {
  await requireReadable(reader, id);
  const { userId } = reader;
  const { parentId, ...rest } = await getWholeTrace(userId, id);
  const trace = { ...rest, parentId: parentId && (await isReadable(reader, parentId)) ? parentId : null };
  const answer = new AgentAnswer(
    `Facts of a session.\n${citation(trace, [formatQuantity(trace.messageCount, "message")])}`,
  );
  const { files, nextCursor } = await listTraceFiles(userId, id, { action: "changed", limit: maxListed });
  for (const block of listFacts(trace)) answer.add(block);
  if (files.length > 0)
    answer.add(
      `Files changed${nextCursor === null ? "" : ` (the first ${files.length})`}:\n${files
        .map(
          ({ path, added, removed, lastPosition }) =>
            `- ${named(path, 300)}${changedLines(added, removed)}, last at #${lastPosition}`,
        )
        .join("\n")}`,
    );
  const [first, last] = await heavyTurn(userId, async () => [
    await readMessages(userId, id, -1, looked),
    await readEarlier(userId, id, limits.message.integer, looked),
  ]);
  addSaid(answer, "Asked first:", "user", first.messages);
  addSaid(answer, "Answered last:", "assistant", last.messages.toReversed());
  return answer.end(undefined);
}

function saidBy(role: string, message: Message): string | undefined {
  const now = message.role === role ? showMessage(message, "talk") : undefined;
  return now && "block" in now ? now.block : undefined;
}

function addSaid(answer: AgentAnswer, head: string, role: string, messages: Message[]): void {
  for (const message of messages) {
    const block = saidBy(role, message);
    if (block === undefined) continue;
    answer.add(`${head}\n${block}`);
    return;
  }
}

function listFacts({ model, createdAt, tokenCount, usage, costNano, note, tags, ...trace }: WholeTrace): string[] {
  const { branches, commits, pullRequests, parentId, parentRelation } = trace;
  const tokens = usedTokens(usage, tokenCount);
  const lines = [
    model === null ? undefined : `model ${named(model, 100)}`,
    createdAt === null ? undefined : `started ${createdAt}`,
    tokens > 0 ? formatQuantity(tokens, "token") : undefined,
    costNano > 0 ? `about $${(costNano / 1e9).toFixed(2)}` : undefined,
  ].filter(Boolean);
  return [
    lines.join(" · "),
    parentId ? `came from session ${parentId} (${named(parentRelation ?? "unknown", 40)})` : "",
    tags.length > 0 ? `tags ${tags.map((tag) => named(tag, 64)).join(", ")}` : "",
    note ? `note ${named(note, 500)}` : "",
    listed(
      "Branches",
      branches.map(({ branch, position }) => `${named(branch)}${at(position)}`),
    ),
    listed(
      "Commits",
      commits.map(({ hash, subject, position }) => `${named(hash, 64)} ${named(subject ?? "")}${at(position)}`),
    ),
    listed(
      "Pull requests",
      pullRequests.map(({ url, position }) => `${named(url, 300)}${at(position)}`),
    ),
  ].filter((block) => block !== "");
}

const at = (position: number | null) => (position === null ? "" : `, at #${position}`);

const listed = (head: string, lines: string[]) =>
  lines.length === 0
    ? ""
    : `${head}${lines.length > maxListed ? ` (the first ${maxListed} of ${lines.length})` : ""}:\n${lines
        .slice(0, maxListed)
        .map((line) => `- ${line}`)
        .join("\n")}`;
