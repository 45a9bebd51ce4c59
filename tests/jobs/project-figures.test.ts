import { beforeEach, expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { accountTraces } from "#lib/ledger/account";
import { mergeProjects } from "#lib/projects/change";
import { findProjects, getProject, listProjects } from "#lib/projects/queries";
import { settleProjects } from "#lib/projects/settle";
import { countTraces } from "#lib/traces/facets";
import { answerUsage } from "#lib/usage/answer";
import { listBudgets, setBudget } from "#lib/usage/budgets";
import { readMonth } from "#lib/usage/month";
import { usageQuery } from "#lib/usage/schema";
import { provideOwner } from "../support/server.ts";
import { getUploads } from "./uploads.ts";

const { userId } = await provideOwner();
const { send } = getUploads(userId);

beforeEach(async () => {
  for (const table of [
    "trace",
    "trace_usage",
    "message_usage",
    "usage_quarter_hour",
    "usage_facets",
    "project",
    "budget",
  ])
    await pool().query(`delete from ${table}`);
});

const usage = { inputTokens: 1_000_000, outputTokens: 1000 };
/** A session of a project, with an answer of each model. */
const session = (sourceId: string, project: string, models: string[], more: object = {}) => ({
  ...{ source: "claude-code", sourceId, project, model: models[0], ...more },
  messages: models.map((model, position) => ({
    ...{ position, role: "assistant", content: `answer ${position}`, createdAt: "2026-03-02T10:00:00Z" },
    metadata: { usage, model },
  })),
});

async function takeIn(...sessions: object[]) {
  await send(...sessions);
  await settleProjects(10);
  await accountTraces(10);
}

const findId = async (name: string): Promise<string> =>
  (await pool().query("select id from project where name = $1", [name])).rows[0]?.id;

test("a project's sessions are as many as its list has, and those that it says are put away", async () => {
  const [opus] = ["claude-opus-4-5"];
  await takeIn(
    session("shown", "api", [opus]),
    session("archived", "api", [opus]),
    session("empty", "api", [opus], { metadata: { kind: "trivial" } }),
  );
  await pool().query("update trace set archived_at = now() where source_id = 'archived'");
  const projectId = await findId("api");
  const { sessions, sessionsPutAway } = await getProject(userId, projectId);
  expect([sessions, sessionsPutAway]).toEqual([3, 2]);
  expect((await listProjects(userId, { sort: "active", limit: 5 })).projects).toMatchObject([{ sessionsPutAway: 2 }]);
  expect(await countTraces(userId, { projectId, archived: false, trivial: false }, 10)).toBe(
    sessions - sessionsPutAway,
  );
});

test("a project's models have the cost that usage gives them, each with its dated twins", async () => {
  const [opus, sonnet] = ["claude-opus-4-5", "claude-sonnet-4-5"];
  await takeIn(
    session("both", "api", [opus, `${sonnet}-20250929`]),
    session("dated", "api", [`${opus}-20251101`]),
    session("plain", "api", [opus]),
  );
  const { byModel, costNano } = await getProject(userId, await findId("api"));
  const query = { from: "2026-03-01", to: "2026-03-03", by: "model", project: "api", unit: "total" };
  const { values = [] } = await answerUsage(userId, usageQuery.parse(query));
  const costs = (of: { value: string | null; costNano: number }[]) =>
    Object.fromEntries(of.map((one) => [one.value, one.costNano]));
  expect(costs(byModel)).toEqual(costs(values));
  expect(byModel.map(({ value, sessions }) => [value, sessions])).toEqual([
    [opus, 3],
    [sonnet, 0],
  ]);
  expect(byModel.reduce((sum, one) => sum + one.costNano, 0)).toBe(costNano);
});

test("a merged project's budget goes with its sessions, and what masks in one masks in both", async () => {
  await takeIn(session("a", "api", ["claude-opus-4-5"]), session("b", "web", ["claude-opus-4-5"]));
  const [api, web] = [await findId("api"), await findId("web")];
  await setBudget(userId, { facet: "project", value: web, amountNano: 7 });
  await pool().query("update project set masks = false where id = $1", [api]);
  await mergeProjects(userId, web, api);
  expect(await listBudgets(userId)).toEqual([{ facet: "project", value: api, amountNano: 7 }]);
  expect((await pool().query("select masks from project where id = $1", [api])).rows).toEqual([{ masks: true }]);
});

test("a budget of a deleted project says so", async () => {
  await setBudget(userId, { facet: "project", value: crypto.randomUUID(), amountNano: 7 });
  const { budgets } = await readMonth(userId, "UTC", new Date());
  expect(budgets.map(({ name }) => name)).toEqual(["a deleted project"]);
});

test("a project is found by the characters of its name, each as it is", async () => {
  await pool().query(
    "insert into project (user_id, id, name) select $1, gen_random_uuid(), name from unnest($2::text[]) as given (name)",
    [userId, ["plain", "snake_case", "100 %"]],
  );
  const found = async (...words: string[]) => (await findProjects(userId, words)).map(({ name }) => name);
  expect(await found("_")).toEqual(["snake_case"]);
  expect(await found("%")).toEqual(["100 %"]);
  expect(await found("A", "pl")).toEqual(["plain"]);
  expect(await found("a")).toEqual(["plain", "snake_case"]);
});
