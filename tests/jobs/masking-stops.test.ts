import { afterEach, expect, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { pool } from "#lib/db/client";
import { summarizeFindings } from "#lib/findings/findings";
import { maskAllCertain, setMasking } from "#lib/findings/rulings";
import { accountTraces } from "#lib/ledger/account";
import { readPolicy } from "#lib/masking/policy";
import { makeUser, provideOwner } from "../support/server.ts";
import { formed } from "../unit/secrets/made-up.ts";
import { clearTraces } from "./searching.ts";
import { messages, uploadsOf } from "./uploads.ts";

const { userId } = await provideOwner();
const { send, stored } = uploadsOf(userId);
afterEach(async () => {
  await clearTraces();
  for (const table of ["secret_policy", "project_alias", "project"]) await pool().query(`delete from ${table}`);
});

const github = formed.find(([id]) => id === "github")?.[1] ?? "";
const filler = "the retry timer is set in src/lib/x.ts ".repeat(3000);
const session = (sourceId: string, more: object = {}, ...contents: string[]) => ({
  ...{ sourceId, project: "api", messages: messages(`GITHUB_TOKEN=${github}`, ...contents), ...more },
});
const isMasked = async (sourceId: string) => !(await stored(sourceId))?.contents.join("\n").includes(github);
const projectId = async (name: string) =>
  (await pool().query("select id from project where user_id = $1 and name = $2", [userId, name])).rows[0]?.id as string;

test("masking that was stopped until a time begins again then, also for what was accepted before", async () => {
  const until = new Date(Date.now() + 60_000);
  await setMasking(userId, false, operator, { until });
  const before = await readPolicy(userId);
  const after = await readPolicy(userId, undefined, until);
  expect([before.masks, after.masks, before.stamp === after.stamp]).toEqual([false, true, false]);
  expect(await summarizeFindings(userId)).toMatchObject({ masks: false, until });
  await send(session("meanwhile"));
  expect(await isMasked("meanwhile")).toBe(false);
  await pool().query("update secret_policy set masks_again_at = now()");
  await send(session("later"));
  expect(await isMasked("later")).toBe(true);
  expect(await summarizeFindings(userId)).toMatchObject({ masks: true, stopped: [] });
});

test("masking is stopped in one project, by whatever tells it, and in no other", async () => {
  const repository = "https://git.example.org/x/shop";
  await send(session("first"), session("second", { metadata: { repository, cwd: "/srv/shop" } }));
  await accountTraces(10);
  await setMasking(userId, false, operator, { projectId: await projectId("api") });
  await setMasking(userId, false, operator, { projectId: await projectId("shop") });
  expect((await summarizeFindings(userId)).stopped.map(({ name }) => name)).toEqual(["api", "shop"]);
  await send(session("small"), session("large", {}, filler));
  await send(session("by remote", { metadata: { repository } }));
  await send(session("other", { project: "web" }), session("none", { project: undefined }));
  await send(session("elsewhere", { metadata: { cwd: "/srv/api" } }));
  const masked = async (...ids: string[]) => Promise.all(ids.map(isMasked));
  expect(await masked("small", "large", "by remote")).toEqual([false, false, false]);
  expect(await masked("first", "second", "other", "none", "elsewhere")).toEqual([true, true, true, true, true]);
  await setMasking(userId, true, operator, { projectId: await projectId("shop") });
  await send(session("again", { metadata: { repository } }));
  expect(await masked("again")).toEqual([true]);
  await maskAllCertain(userId, operator);
  expect((await summarizeFindings(userId)).stopped).toEqual([]);
  await send(session("last"));
  expect(await masked("last")).toEqual([true]);
});

test("another person's project is a missing one", async () => {
  await send(session("mine"));
  await accountTraces(10);
  const other = await makeUser({ name: "Bo", email: "bo@example.org", password: "correct horse battery" });
  const stop = setMasking(other, false, operator, { projectId: await projectId("api") });
  await expect(stop).rejects.toMatchObject({ code: "not_found" });
  expect((await readPolicy(userId)).unmasked).toEqual([]);
});
