// What a session must show, by what the API was asked and what it answered.

import type { Played } from "./play.ts";
import { getTask, isHelper, scriptIn } from "./scenes.ts";
import { type Exchange, sideTexts } from "./standin.ts";

export type Item = {
  kind: "user" | "thinking" | "assistant" | "call" | "result";
  text: string;
  name?: string;
  input?: unknown;
  failed?: boolean;
  /** Their SHA-256 in hex. */
  pictures?: string[];
  /** Only its beginning reached the agent, if at all. */
  isCut?: boolean;
};

/** What was said in one session: the person's own, or a helper's. `script` is a helper's. */
export type Conversation = { script?: string; title: string; items: Item[] };

export function listConversations({ prompts, exchanges }: Played, told = (prompt: string) => prompt): Conversation[] {
  const answered = exchanges.filter(({ side, answer }) => !side && answer);
  const items = prompts.flatMap((prompt) => [
    { kind: "user" as const, text: told(prompt) },
    ...answered.filter(({ script }) => script === scriptIn(prompt)).flatMap((one) => listItems(one, exchanges)),
  ]);
  const helpers = new Set(answered.flatMap(({ script }) => (script && isHelper(script) ? [script] : [])));
  const title = titleIn(exchanges) ?? prompts[0] ?? "";
  return [
    { title, items },
    ...[...helpers].map((script) => {
      const task = getTask(script);
      const own = answered.filter((one) => one.script === script);
      const said = own.flatMap((one) => listItems(one, exchanges));
      return { script, title: task.title, items: [{ kind: "user" as const, text: task.prompt }, ...said] };
    }),
  ];
}

function listItems({ answer, script, isCut }: Exchange, exchanges: Exchange[]): Item[] {
  if (!answer) return [];
  const { thinking, text, calls } = answer;
  const results = new Map(
    exchanges.flatMap(({ asked }) => asked.turns.flatMap((turn) => turn.results)).map((one) => [one.callId, one]),
  );
  const end = calls.find(({ name }) => name === endName);
  const said = end ? String((end.input as { result: string }).result) : text;
  const others = calls.filter((call) => call !== end);
  return [
    ...(thinking ? [{ kind: "thinking" as const, text: thinking }] : []),
    ...(said ? [{ kind: "assistant" as const, text: said, isCut }] : []),
    ...others.map(({ name, input }) => ({ kind: "call" as const, text: "", name, input })),
    ...others.flatMap(({ id, name }) => {
      const result = results.get(id);
      if (!result) return [];
      const failed = result.isError || script === "failures";
      return { kind: "result" as const, text: result.text, name, failed, pictures: result.pictures };
    }),
  ];
}

/** Cline's call that ends a turn with a text. */
export const endName = "attempt_completion";

function titleIn(exchanges: Exchange[]): string | undefined {
  return exchanges.some(({ side }) => side === "title") ? sideTexts.title : undefined;
}
