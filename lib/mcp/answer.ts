import { env } from "#lib/core/env";
import { limits } from "#lib/core/limits";
import { named, notice } from "#lib/mcp/quote";

export class AgentAnswer {
  readonly #blocks: string[] = [];
  #left: number;

  constructor(head: string, maxBytes: number = limits.mcp.answerBytes) {
    const start = `${head}\n${notice}`;
    this.#blocks.push(start);
    // Room for the last line, which says how to continue.
    this.#left = maxBytes - Buffer.byteLength(start) - 600;
  }

  add(block: string): boolean {
    const bytes = Buffer.byteLength(block) + 2;
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    this.#blocks.push(block);
    return true;
  }

  get room(): number {
    return Math.max(0, this.#left - 2);
  }

  /** @param next the cursor of the next page, if there is one */
  end(next: string | null | undefined): string {
    const blocks = next ? [...this.#blocks, `More: call again with cursor ${JSON.stringify(next)}.`] : this.#blocks;
    return blocks.join("\n\n");
  }
}

export const linkTo = (id: string, position?: number): string =>
  `${env().BASE_URL}/traces/${id}${position === undefined ? "" : `?at=${position}`}`;

/** `" +3 −1"`; empty if no changed line is known, as with agents that only report a written file. */
export const changedLines = (added: number, removed: number): string =>
  added + removed > 0 ? ` +${added} −${removed}` : "";

export type CitedTrace = {
  id: string;
  title: string | null;
  shortTitle?: string | null;
  source: string;
  project: string | null;
  updatedAt: string;
  dated: boolean;
};

export function citation(
  { id, title, shortTitle = title, source, project, updatedAt, dated }: CitedTrace,
  more: (string | undefined)[] = [],
): string {
  const facts = [
    `agent ${named(source, 60)}`,
    project === null ? undefined : `project ${named(project, 100)}`,
    dated ? `last active ${updatedAt}` : undefined,
    ...more,
  ];
  return `${named(shortTitle ?? "Untitled session")}\nsession ${id} · ${facts.filter(Boolean).join(" · ")}\nlink ${linkTo(id)}`;
}
