import { expect, test } from "vitest";
import { pack, unpack } from "../../app/(app)/traces/packed.ts";
import type { Row } from "../../app/(app)/traces/rows.tsx";

const least: Row & { at: string } = {
  id: "1",
  source: "codex",
  messages: "0",
  at: "2026-11-01T00:00:00Z",
  when: "00:00",
  exact: "0 messages",
};
const most: Required<Row> = {
  ...least,
  ...{ icon: "openai", monogram: "Co", title: "$a title", star: true, tags: ["slow"], live: "Live", promptsOnly: true },
  ...{ project: "api", projectId: "p1", branch: "main", model: "opus", exactModel: "opus-4", machine: "laptop" },
  ...{ pull: ["o/r", 7, 2], errors: "1 error", added: "0", removed: "1", took: "3m", cost: "$0.10", spark: "0120" },
  below: { label: "1 fork", rows: [] },
  promptsOnly: true,
  tierNotPriced: true,
  withBelow: "with 1 fork: 2 messages",
  origin: { words: "Fork of", title: "another", href: "/traces/2" },
  found: { groups: [] } as never,
};

test("rows are the same after they were packed, and have no names on the way", () => {
  const groups = [{ heading: "Today", rows: [least, most] }, { rows: [{ ...least, id: "2", live: "Live" }] }];
  const packed = pack(groups);
  expect(unpack(JSON.parse(JSON.stringify(packed)))).toEqual(groups);
  expect(JSON.stringify(packed)).not.toContain('"messages"');
});

test("a row has no values after its last", () => {
  expect(pack([{ rows: [least] }]).groups[0]?.[1][0]).toHaveLength(6);
});
