import { expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { countTraces, readFacets } from "#lib/traces/facets";
import { listQuery } from "#lib/traces/schema";
import { provideOwner } from "../support/server.ts";
import { getUploads, messages } from "./uploads.ts";

const { userId } = await provideOwner();
const { send } = getUploads(userId);

test("a model and its dated twins are one in the menu, and for the filter; a dated name stands for itself", async () => {
  for (const [at, model] of ["gpt-5", "gpt-5-2025-08-07", "gpt-5@20250807", "gpt-5-mini", "gpt-5.1"].entries())
    await send({ sourceId: `of ${at}`, source: "own", model, messages: messages("words") });
  const counted = { "gpt-5": 3, "gpt-5-mini": 1, "gpt-5.1": 1 };
  const { model } = await readFacets(userId, {});
  expect(Object.fromEntries(model.map(({ value, count }) => [value, count]))).toEqual(counted);
  for (const [value, count] of Object.entries({ ...counted, "gpt-5-2025-08-07": 1, "gpt-": 0, gpt_5: 0 }))
    expect(await countTraces(userId, { model: value }, 10), value).toBe(count);
});

test("of several values of one filter a trace has any, and of several filters all; each is counted without its own", async () => {
  await pool().query(
    `update trace set tags = array['a', 'x'], tools = E'\nBash\nRead\n', machine = 'one' where source_id in ('of 0', 'of 3')`,
  );
  await pool().query(
    `update trace set tags = array['b'], tools = E'\nRead\n', machine = 'two' where source_id = 'of 1'`,
  );
  for (const [at, branch] of ["main", "next"].entries())
    await pool().query(
      `insert into trace_branch (user_id, trace_id, branch, evidence)
       select user_id, id, $1, 'session-meta' from trace where source_id = $2`,
      [branch, `of ${at}`],
    );
  await pool().query(
    `insert into trace_file (user_id, trace_id, position, path, name, action)
     select user_id, id, 0, '/home/ada/api/src/Timer.ts', 'timer.ts', 'edit' from trace where source_id = 'of 0'`,
  );
  const counts = async (filter: Record<string, string | string[]>) => countTraces(userId, listQuery.parse(filter), 10);
  expect(await counts({ tag: "A" })).toBe(2);
  expect(await counts({ tag: ["a", "b"] })).toBe(3);
  expect(await counts({ tag: ["a", "b"], machine: "two" })).toBe(1);
  expect(await counts({ machine: ["one", "two"], model: ["gpt-5", "gpt-5-mini"] })).toBe(3);
  expect(await counts({ model: ["gpt-5-mini", "gpt-5.1"] })).toBe(2);
  expect(await counts({ tool: ["Bash", "Nothing"] })).toBe(2);
  expect(await counts({ branch: ["main", "next"] })).toBe(2);
  expect(await counts({ file: "src/timer.ts" })).toBe(1);
  expect(await counts({ file: ["other.ts", "TIMER.ts"] })).toBe(1);
  expect(await counts({ projectId: [crypto.randomUUID(), crypto.randomUUID()] })).toBe(0);
  const { tag, tool, branch, machine } = await readFacets(
    userId,
    listQuery.parse({ tag: "b", machine: ["one", "two"] }),
  );
  expect(tag).toEqual([
    { value: "a", count: 2 },
    { value: "x", count: 2 },
    { value: "b", count: 1 },
  ]);
  expect(tool).toEqual([{ value: "Read", count: 1 }]);
  expect(branch).toEqual([{ value: "next", count: 1 }]);
  expect(machine).toEqual([{ value: "two", count: 1 }]);
});

test.each([{ source: [] }, { tag: ["a", ""] }, { file: "/" }, { branch: Array(21).fill("x") }, { projectId: ["x"] }])(
  "refuses %j",
  (filter) => {
    expect(listQuery.safeParse(filter).success).toBe(false);
  },
);
