import { basename } from "node:path";
import { type Fields, isFields } from "../../files/json.ts";
import { readLines } from "../../files/line-reader.ts";
import { findOlder, type Member, readMember } from "./family.ts";
import { readHead } from "./heads.ts";
import { sessionPathOf } from "./identity.ts";
import { keyOfLine, lineKey } from "./line-keys.ts";

/**
 * The sessions that a file's lines may have been copied from: versions of Claude Code that resumed a session in a new file
 * copied its lines there, and a fork does. A line is a copy where one of them has it.
 */
export class Originals {
  readonly #older: { sourceId: string; lines: Member["lines"]; copied: number }[];

  constructor(older: readonly Member[], suffix = "") {
    this.#older = older.map(({ sourceId, lines }) => ({ sourceId: sourceId + suffix, lines, copied: 0 }));
  }

  /** Whether there are none. */
  get areNone(): boolean {
    return this.#older.length === 0;
  }

  /** Whether a line was copied. */
  have(record: Fields): boolean {
    if (this.areNone) return false;
    const { forkedFrom, timestamp } = record;
    const keys = [keyOfLine(record), isFields(forkedFrom) ? lineKey(forkedFrom.messageUuid, timestamp) : undefined];
    let isCopy = false;
    for (const one of this.#older) {
      if (!keys.some((key) => key !== undefined && one.lines.has(key))) continue;
      one.copied++;
      isCopy = true;
    }
    return isCopy;
  }

  /** The session that most lines were copied from, and of several the oldest. */
  get nearest(): string | undefined {
    let nearest = { sourceId: "", copied: 0 };
    for (const one of this.#older) if (one.copied > nearest.copied) nearest = one;
    return nearest.sourceId || undefined;
  }
}

/** Finds what a session's lines, or those of the sub-agents in its file, were copied from. */
export async function findOriginals(path: string, suffix = ""): Promise<Originals> {
  return new Originals(await findOlder(path), suffix);
}

/** An agent of the program's own, such as `agent-acompact-…`: it begins with a copy of its session's conversation. */
const programAgent = /^agent-a[a-z_]+-/;

/** Finds the session that a sub-agent's first lines were copied from: none for an agent with a task of its own. */
export async function findAgentsOriginals(path: string): Promise<Originals> {
  const session = sessionPathOf(path);
  const { first } = readHead(path);
  const isLikely =
    session !== undefined &&
    (programAgent.test(basename(path)) || (first !== undefined && readHead(session).first === first));
  const member = isLikely ? await readMember(session) : undefined;
  return new Originals(member ? [member] : []);
}

/** Which of some lines a file has, found without parsing it. */
export async function findUuids(path: string, wanted: ReadonlySet<string>): Promise<Set<string>> {
  const uuids = new Set<string>();
  const take = (line: string) => {
    const uuid = /"uuid":\s*"([^"\\]{1,64})"/.exec(line)?.[1];
    if (uuid && wanted.has(uuid)) uuids.add(uuid);
  };
  await readLines(path, take, { tooLong() {}, pause: async () => {} });
  return uuids;
}
