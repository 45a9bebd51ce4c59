// What a tool answers: Markdown for an agent, bounded in bytes.
import { env } from "#lib/env";
import { limits } from "#lib/limits";
import { named, notice } from "#lib/mcp/quote";

/** A page of blocks that ends before it is too long. */
export class AgentAnswer {
  readonly #blocks: string[] = [];
  #left: number;

  constructor(head: string, maxBytes: number = limits.mcp.answerBytes) {
    const start = `${head}\n${notice}`;
    this.#blocks.push(start);
    // For the last line, which says how to go on.
    this.#left = maxBytes - Buffer.byteLength(start) - 600;
  }

  /** Adds a block where it fits. @returns whether it did */
  add(block: string): boolean {
    const bytes = Buffer.byteLength(block) + 2;
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    this.#blocks.push(block);
    return true;
  }

  /** The bytes that a further block may have. */
  get room(): number {
    return Math.max(0, this.#left - 2);
  }

  /** @param next the cursor of the next page, if there is one */
  end(next: string | null | undefined): string {
    const blocks = next ? [...this.#blocks, `More: call again with cursor ${JSON.stringify(next)}.`] : this.#blocks;
    return blocks.join("\n\n");
  }
}

/** Where a person reads a session, at a message of it. */
export const linkTo = (id: string, position?: number): string =>
  `${env().BASE_URL}/traces/${id}${position === undefined ? "" : `?at=${position}`}`;

/** " +3 −1"; nothing where no line is known to have changed, as of agents that tell only that they wrote a file. */
export const changedLines = (added: number, removed: number): string =>
  added + removed > 0 ? ` +${added} −${removed}` : "";

/** What of a trace every answer cites. */
export type CitedTrace = {
  id: string;
  title: string | null;
  source: string;
  project: string | null;
  updatedAt: string;
  dated: boolean;
};

/** A session's title, and a line with what is needed to read on. */
export function citation(
  { id, title, source, project, updatedAt, dated }: CitedTrace,
  more: (string | undefined)[] = [],
): string {
  const facts = [
    `agent ${named(source, 60)}`,
    project === null ? undefined : `project ${named(project, 100)}`,
    dated ? `last active ${updatedAt}` : undefined,
    ...more,
  ];
  return `${named(title ?? "Untitled session")}\nsession ${id} · ${facts.filter(Boolean).join(" · ")}\nlink ${linkTo(id)}`;
}
