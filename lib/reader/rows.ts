export type ReaderMessage = {
  position: number;
  role: string | null;
  content: string;
  tokenCount: number | null;
  createdAt: string | null;
  metadata: Record<string, unknown> | null;
};

export type ReaderRow = { position: number; positions: number[]; kind: string; talk: boolean; message: ReaderMessage };

/** The rows of a conversation: one for each message that is not empty. */
export function rowsOf(messages: ReaderMessage[]): ReaderRow[] {
  const rows: ReaderRow[] = [];
  let empty: number[] = [];
  for (const message of messages) {
    if (message.content === "") empty.push(message.position);
    else {
      const { position, role } = message;
      rows.push({ position, positions: [...empty, position], kind: role ?? "unknown", talk: role === "user", message });
      empty = [];
    }
  }
  return rows;
}
