// Random families of Claude Code's files, and what is true of them: each line was said once, wherever else it stands.
import { makeRandom } from "../support/random.ts";
import { call, Lines, text } from "./claude-lines.ts";

type Line = Record<string, unknown> & { uuid: string };

export type Family = {
  /** The lines of each file by its name. */
  files: Map<string, Line[]>;
};

const getName = (seed: number, number: number) =>
  `${String(10_000_000 + ((seed * 7919 + number * 104_729) % 89_999_999))}-0000-4000-8000-${String(number).padStart(12, "0")}`;

/** A family of 2 to 6 files: sessions that go on, are resumed, forked, branched, compacted, copied in conflict or in part, and deleted. */
export function makeFamily(seed: number): Family {
  const random = makeRandom(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const make = new Lines();
  let [answers, commits, edits] = [0, 0, 0];
  const commit = (sessionId: string): Line[] => {
    const number = commits++;
    const answer = { id: `msg_commit_${number}`, usage: { output_tokens: 3 } };
    return [
      make.answered(call(`call_${number}`, "git commit -m x"), answer, { sessionId }),
      make.result(`call_${number}`, `[main ${(0xabc0000 + number).toString(16)}] x\n 1 file changed`, { sessionId }),
    ] as Line[];
  };
  /** An edit, whose id no other session has, or that only numbers it. */
  const edit = (sessionId: string): Line[] => {
    const number = edits++;
    const id = number % 2 === 0 ? `toolu_01${String(number).padStart(22, "x")}` : `edit_${number}`;
    const file_path = `/home/ada/code/api/${pick(["a.ts", "lib/b.ts", "web/a.ts"])}`;
    const new_string = Array.from({ length: 1 + (number % 4) }, (_, at) => `new ${number} ${at}`).join("\n");
    const input = { file_path, old_string: `old ${number}`, new_string };
    const answer = { id: `msg_edit_${number}`, usage: { output_tokens: 2 } };
    return [
      make.answered([{ type: "tool_use", id, name: "Edit", input }], answer, { sessionId }),
      make.result(id, "The file has been updated.", { sessionId }),
    ] as Line[];
  };
  /** Now and then the machine's clock was set back by an hour. */
  const atSomeTime = (lines: Line[]): Line[] => {
    const isBack = random() < 0.1;
    const back = (time: unknown) => new Date(Date.parse(String(time)) - 3_600_000).toISOString();
    return isBack ? lines.map((line) => ({ ...line, timestamp: back(line.timestamp) })) : lines;
  };
  const turn = (sessionId: string): Line[] =>
    atSomeTime([
      make.said(`Question ${answers}`, { sessionId }),
      make.answered(
        text(`Answer ${answers}`),
        { id: `msg_${answers}`, usage: { output_tokens: 1 + (answers++ % 50) } },
        { sessionId, ...(random() < 0.5 && { requestId: `req_${answers}` }) },
      ),
      ...(random() < 0.3 ? commit(sessionId) : []),
      ...(random() < 0.4 ? edit(sessionId) : []),
    ] as Line[]);
  const first = getName(seed, 0);
  const files = new Map([[first, turn(first)]]);
  const count = 2 + Math.floor(random() * 5);
  for (let step = 0; files.size < count || step < count; step++) {
    const [name, lines] = pick([...files]);
    const next = getName(seed, step + 1);
    const kind = pick(["grow", "resume", "keep ids", "fork", "branch", "replay", "conflict", "half"]);
    const copied = kind === "branch" ? lines.slice(0, 2 * (1 + Math.floor((random() * lines.length) / 2))) : lines;
    const own = random() < 0.8 ? turn(next) : [];
    if (kind === "grow") lines.push(...turn(name));
    else if (kind === "replay") lines.push(...lines.slice(Math.floor(random() * lines.length)), ...turn(name));
    else if (kind === "conflict")
      files.set(random() < 0.5 ? `${name}.sync-conflict-${step}` : `${name} ${step}`, [...lines, ...own]);
    else if (kind === "half")
      files.set(`${name}.partial-${step}`, lines.slice(0, 1 + Math.floor(random() * lines.length)));
    else if (kind === "keep ids") files.set(next, [...copied, ...own]);
    else if (kind === "fork")
      files.set(next, [
        ...copied.map((line) => ({
          ...line,
          sessionId: next,
          forkedFrom: { sessionId: name, messageUuid: line.uuid },
        })),
        ...own,
      ]);
    else files.set(next, [...copied.map((line) => ({ ...line, sessionId: next })), ...own]);
  }
  if (random() < 0.3) files.delete(pick([...files.keys()]));
  return { files };
}

/** How many messages, tokens and commits a family has: each line once. */
export function computeTruth({ files }: Family): { messages: number; tokens: number; commits: number } {
  const lines = new Map([...files.values()].flat().map((line) => [line.uuid, line]));
  let [tokens, commits] = [0, 0];
  for (const { message } of lines.values()) {
    tokens += (message as { usage?: { output_tokens: number } }).usage?.output_tokens ?? 0;
    if (JSON.stringify(message).includes("[main abc")) commits++;
  }
  return { messages: lines.size, tokens, commits };
}

type Block = { id?: string; tool_use_id?: string; name?: string; input?: { file_path: string; new_string: string } };

/** By file, how many edits a family has, each once, and the lines that they added: those whose result stands in a file with them. */
export function countFileEdits({ files }: Family): Edits {
  const edits = new Map<string, Block["input"]>();
  for (const lines of files.values()) {
    const blocks = lines.flatMap(({ uuid, message }) => {
      const { content } = message as { content: unknown };
      return Array.isArray(content) ? content.map((block: Block) => ({ uuid, block })) : [];
    });
    const answered = new Set(blocks.map(({ block }) => block.tool_use_id));
    for (const { uuid, block } of blocks)
      if (block.name === "Edit" && answered.has(block.id)) edits.set(uuid, block.input);
  }
  return sumEdits(
    [...edits.values()].flatMap((input) =>
      input ? { path: input.file_path.replace("/home/ada/code/api/", ""), text: input.new_string } : [],
    ),
  );
}

/** By file: how many edits, and how many lines they added. */
export type Edits = Record<string, { edits: number; added: number }>;

export const sumEdits = (made: { path: string; text: string }[]): Edits =>
  addUp(made.map(({ path, text }) => ({ path, edits: 1, added: text.split("\n").length })));

export function addUp(counts: { path: string; edits: number; added: number }[]): Edits {
  const sums: Edits = {};
  for (const { path, edits, added } of counts) {
    const sum = sums[path] ?? { edits: 0, added: 0 };
    sums[path] = { edits: sum.edits + edits, added: sum.added + added };
  }
  return sums;
}
