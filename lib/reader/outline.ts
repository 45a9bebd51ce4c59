import type { ReaderMessage } from "#lib/reader/rows";

export type Outline = {
  turns: { position: number; title: string }[];
  files: { path: string; added: number; removed: number; positions: number[] }[];
  errors: { position: number; title: string }[];
};

/** Gathers the outline of a conversation from its messages, one after the other. */
export function makeOutliner() {
  const turns: Outline["turns"] = [];
  return {
    add(message: ReaderMessage): void {
      if (message.role === "user" && message.content !== "")
        turns.push({ position: message.position, title: message.content.slice(0, 80) });
    },
    result: (): Outline => ({ turns, files: [], errors: [] }),
  };
}
