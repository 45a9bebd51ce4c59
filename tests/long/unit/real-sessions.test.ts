import { existsSync, readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { expect, test, vi } from "vitest";
import type { ReaderMessage, ReaderRow } from "#lib/transcript/message";
import { makeOutline } from "#lib/transcript/outline";
import { makeRows } from "#lib/transcript/rows";

vi.setConfig({ testTimeout: 60_000 });

const file = "../shared/data/real-sessions.json.gz";
const isThere = existsSync(file);

type Trace = { messages: Partial<ReaderMessage>[] };

const complete = (message: Partial<ReaderMessage>): ReaderMessage => ({
  position: 0,
  role: null,
  content: "",
  tokenCount: null,
  createdAt: null,
  metadata: null,
  ...message,
});

/** How often each kind stands among the parts, and each tool that is not known. */
function count(rows: ReaderRow[], kinds: Map<string, number>): void {
  for (const row of rows.flatMap((one) => (one.members.length > 0 ? one.members : [one])))
    for (const { kind, tool } of row.parts) {
      const name = kind === "unknown" ? `unknown ${tool}` : kind;
      kinds.set(name, (kinds.get(name) ?? 0) + 1);
    }
}

test.skipIf(!isThere)("each message of real sessions leads to one row, and next to no tool is unknown", () => {
  const { traces } = JSON.parse(gunzipSync(readFileSync(file)).toString()) as { traces: Trace[] };
  const kinds = new Map<string, number>();
  let messages = 0;
  for (const trace of traces) {
    const all = trace.messages.map(complete).sort((a, b) => a.position - b.position);
    const rows = makeRows(all);
    expect(rows.flatMap(({ positions }) => positions).sort((a, b) => a - b)).toEqual(all.map((one) => one.position));
    expect(makeOutline(all).turns.length).toBeLessThanOrEqual(all.length);
    messages += all.length;
    count(rows, kinds);
  }
  if (process.env.SHARES)
    process.stdout.write(
      `${JSON.stringify(
        [...kinds].sort((a, b) => b[1] - a[1]),
        null,
        1,
      )}\n`,
    );
  const unknown = [...kinds].filter(([kind]) => kind.startsWith("unknown")).reduce((sum, [, times]) => sum + times, 0);
  expect(unknown / messages).toBeLessThan(0.01);
});
