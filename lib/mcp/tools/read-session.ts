import "server-only";
import { z } from "zod";
import { eachInSlices } from "#lib/core/concurrency/slices";
import { limits } from "#lib/core/limits";
import { heavyTurn } from "#lib/db/heavy";
import { AgentAnswer, citation, linkTo } from "#lib/mcp/answer";
import { showMessage, type TalkDetail, toolsBlock } from "#lib/mcp/talk";
import { requireReadable, session, type Tool } from "#lib/mcp/tools/tool";
import { readEarlier, readMessages } from "#lib/messages/read-messages";
import type { Message } from "#lib/messages/schema";
import { getTrace } from "#lib/traces/queries";
import { formatQuantity } from "#lib/transcript/text";

const position = z.int().min(0).max(limits.message.integer);

const input = z.object({
  session,
  around: position
    .optional()
    .describe("The position of a message, as returned by search_sessions. Reading begins a little earlier."),
  detail: z
    .enum(["talk", "all"])
    .default("talk")
    .describe("talk: the conversation, with only the names of tools. all: also tools' input and output, and thinking."),
  cursor: z
    .string()
    .regex(/^\d{1,10}$/)
    .optional()
    .describe("The cursor at the end of the previous page."),
});

export const readSession: Tool<typeof input> = {
  name: "read_session",
  title: "Read a session",
  description:
    "Read the messages of one earlier session, from its start, around a message, or from a cursor. By default only what the person and the agent said; detail all adds tools' input and output.",
  input,
  async run({ session: id, around, detail, cursor }, reader) {
    await requireReadable(reader, id);
    const { userId } = reader;
    const trace = await getTrace(userId, id);
    const after =
      cursor === undefined ? await findStart(userId, id, around) : Math.min(Number(cursor), limits.message.integer);
    const cited = citation(trace, [formatQuantity(trace.messageCount, "message")]);
    const answer = new AgentAnswer(`Messages of a session; ${linkTo(id)}?at=N is the link of message #N.\n${cited}`);
    return answer.end(await addMessages(answer, { userId, id, after, detail }));
  },
};

const before = 6;
const maxBytes = 1024 * 1024;

/** A few messages before the wanted one come with it. */
async function findStart(userId: string, id: string, around: number | undefined): Promise<number> {
  if (around === undefined) return -1;
  const bounds = { limit: before, maxBytes, maxMessageBytes: maxBytes };
  const { messages } = await heavyTurn(userId, () => readEarlier(userId, id, around, bounds));
  return (messages[0]?.position ?? around) - 1;
}

/** A long run of tool calls has no talk. */
const maxPages = 5;

export async function addMessages(
  answer: AgentAnswer,
  { userId, id, after, detail }: { userId: string; id: string; after: number; detail: TalkDetail },
): Promise<string | null> {
  const page = new TalkPage(answer, after);
  let from = after;
  for (let read = 0; read < maxPages; read += 1) {
    const bounds = { limit: 100, maxBytes, maxMessageBytes: maxBytes };
    const { messages, nextAfter } = await heavyTurn(userId, () => readMessages(userId, id, from, bounds));
    let isFull = false;
    await eachInSlices(messages, (message) => {
      isFull ||= !page.add(message, detail);
    });
    if (isFull) return String(page.last);
    if (nextAfter === null) return page.end() ? null : String(page.last);
    from = nextAfter;
  }
  page.end();
  return String(page.last);
}

/** Messages that only called tools share a block. */
class TalkPage {
  /** The last position that the answer contains. */
  last: number;
  readonly #answer: AgentAnswer;
  #waiting: { from: number; to: number; tools: string[] } | undefined;

  constructor(answer: AgentAnswer, after: number) {
    this.#answer = answer;
    this.last = after;
  }

  /** @returns false if it does not fit */
  add(message: Message, detail: TalkDetail): boolean {
    const { position } = message;
    const now = showMessage(message, detail);
    if (!now) return true;
    if ("tools" in now) {
      const { from, tools } = this.#waiting ?? { from: position, tools: [] };
      this.#waiting = { from, to: position, tools: [...tools, ...now.tools].slice(0, 1000) };
      return true;
    }
    if (!this.end() || !this.#answer.add(now.block)) return false;
    this.last = position;
    return true;
  }

  /** @returns false if they do not fit */
  end(): boolean {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (!waiting) return true;
    if (!this.#answer.add(toolsBlock(waiting.from, waiting.to, waiting.tools))) return false;
    this.last = waiting.to;
    return true;
  }
}
