import "server-only";
import { z } from "zod";
import { exactText } from "#lib/core/fields";
import { heavyTurn } from "#lib/db/heavy";
import { AgentAnswer, citation, linkTo } from "#lib/mcp/answer";
import type { recallPlaces } from "#lib/mcp/api";
import { attemptsFor, tellingWords } from "#lib/mcp/error-line";
import { type FoundMessages, findSessions } from "#lib/mcp/find-sessions";
import { named, quotation, shown } from "#lib/mcp/quote";
import { cutExcerpt, saidIn } from "#lib/mcp/talk";
import { narrowing, type Tool, within } from "#lib/mcp/tools/tool";
import { readMessages, readMessagesAt } from "#lib/messages/read-messages";
import type { Message } from "#lib/messages/schema";
import type { Selection } from "#lib/search/sql/selection";
import type { Trace } from "#lib/traces/queries";
import { splitPieces } from "#lib/transcript/kind";
import { plainCall } from "#lib/transcript/script";
import { formatQuantity } from "#lib/transcript/text";
import { findCallKind } from "#lib/transcript/tools/tools";

const input = z.object({
  error: exactText(1, 8192).describe("The error message as printed; one line, or a few."),
  project: narrowing.project,
  limit: z.int().min(1).max(5).default(3).describe("How many past places to show."),
});

export const findPastFix: Tool<typeof input> = {
  name: "find_past_fix",
  title: "Find how an error was solved before",
  description:
    "Given an error message, find earlier sessions in which it occurred, and done next: changed files, commands, and what the agent said at the end of that turn. Try it before debugging an error from scratch.",
  input,
  async run({ error, project, limit }, reader) {
    const { places, isExact } = await pastPlaces(reader.userId, error, { project, ...within(reader) }, limit);
    if (places.length === 0) return "No earlier session has this error. Try search_sessions with fewer words of it.";
    const what = isExact ? "Earlier occurrences" : "No session has this line; occurrences of its most specific words";
    const answer = new AgentAnswer(`${what} and what was done next, ${formatQuantity(places.length, "session")}.`);
    for (const place of places) answer.add(formatPlace(place));
    return answer.end(undefined);
  },
};

/** `steps` are lines on what was changed and run next; texts are masked. */
type ErrorPlace = {
  trace: Trace;
  position: number | null;
  createdAt: string | null;
  excerpt: string;
  steps: string[];
  said: { position: number; text: string } | null;
};

type ProjectScope = Pick<Selection, "project" | "onlyProjectId">;

async function pastPlaces(
  userId: string,
  error: string,
  filter: ProjectScope,
  limit: number,
): Promise<{ places: ErrorPlace[]; isExact: boolean }> {
  const { found, words, isExact } = await findError(userId, error, filter, limit);
  if (found.length === 0) return { places: [], isExact };
  const places = await heavyTurn(userId, async () => {
    const made: ErrorPlace[] = [];
    for (const one of found) made.push(await toErrorPlace(userId, one, words));
    return made;
  });
  return { places, isExact };
}

type FoundError = { found: FoundMessages[]; words: string[]; isExact: boolean };

async function findError(userId: string, error: string, filter: ProjectScope, limit: number): Promise<FoundError> {
  const words = tellingWords(error);
  for (const { parts, isExact } of attemptsFor(error)) {
    const q = parts.map((part) => `"${part}"`).join(" ");
    const { found, isPartial } = await findSessions(userId, { q, ...filter }, { limit });
    if (found.length > 0 && !isPartial) return { found, words: [...parts, ...words], isExact };
  }
  return { found: [], words, isExact: false };
}

/** The messages that may show how the error was solved. */
const after = { limit: 120, maxBytes: 512 * 1024, maxMessageBytes: 128 * 1024 };
const maxSteps = 12;

async function toErrorPlace(userId: string, { trace, positions }: FoundMessages, words: string[]): Promise<ErrorPlace> {
  const [position] = positions;
  if (position === undefined) return { trace, position: null, createdAt: null, excerpt: "", steps: [], said: null };
  const [hit] = await readMessagesAt(userId, trace.id, [position]);
  const { messages } = await readMessages(userId, trace.id, position, after);
  const { steps, answer } = resolution(messages);
  const text = answer ? saidIn(answer) : "";
  return {
    ...{ trace, position, createdAt: hit?.createdAt ?? null, steps },
    excerpt: hit ? cutExcerpt(hit, words) : "",
    said: answer && text !== "" ? { position: answer.position, text } : null,
  };
}

function formatPlace({ trace, position, createdAt, excerpt, steps, said }: ErrorPlace): string {
  const head = citation(trace, [formatQuantity(trace.messageCount, "message")]);
  if (position === null) return head;
  const came = `came up at #${position} · ${createdAt ?? "no time"} · ${linkTo(trace.id, position)}\n${quotation(excerpt)}`;
  const done = steps.length > 0 ? `done next:\n${steps.map((step) => `- ${step}`).join("\n")}` : "";
  const last = said ? `said at the end, #${said.position}:\n${quotation(said.text)}` : "";
  return [head, came, done, last].filter((part) => part !== "").join("\n");
}

/** Up to the person's next message; `answer` is the last message before it. */
function resolution(messages: Message[]): { steps: string[]; answer: Message | undefined } {
  const steps: string[] = [];
  let answer: Message | undefined;
  for (const message of messages) {
    const pieces = splitPieces(message);
    if (answer && pieces.some((piece) => piece.type === "text" && piece.kind === "user")) break;
    if (pieces.some((piece) => piece.type === "text" && piece.kind === "assistant" && /\p{L}/u.test(piece.text)))
      answer = message;
    for (const piece of pieces)
      if (piece.type === "call" && steps.length < maxSteps) steps.push(...formatStep(piece, message.position));
  }
  return { steps, answer };
}

const told = new Set(["edit", "write", "shell"]);

function formatStep(
  { call: written, result }: Extract<ReturnType<typeof splitPieces>[number], { type: "call" }>,
  position: number,
): string[] {
  const call = plainCall(written);
  if (!told.has(findCallKind(call))) return [];
  const { file_path, path, filePath, command, cmd } = call.input;
  const [what] = [file_path, path, filePath, command, cmd].flatMap((value) => {
    const text = Array.isArray(value) ? value.join(" ") : value;
    return typeof text === "string" && text !== "" ? text : [];
  });
  return [
    `#${position} ${named(call.name, 60)}${what ? ` ${named(what, 240)}` : ""}${result?.failed ? " (failed)" : ""}`,
  ];
}

export async function recall(
  userId: string,
  { error, project }: z.output<typeof recallPlaces.query>,
): Promise<z.input<typeof recallPlaces.response>> {
  const { places, isExact } = await pastPlaces(userId, error, { project }, 3);
  const listed = places.map(({ trace, position, createdAt, excerpt, said }) => ({
    ...{ session: trace.id, source: shown(trace.source), position, excerpt },
    project: trace.project === null ? null : shown(trace.project),
    title: trace.title === null ? null : shown(trace.title),
    at: createdAt ?? (trace.dated ? trace.updatedAt : null),
    link: linkTo(trace.id, position ?? undefined),
    said: said?.text ?? null,
  }));
  return { ok: true, exact: isExact, places: listed };
}
