import { expect, test } from "vitest";
import { pool, prisma } from "#lib/db/client";
import { expectGoodLook, widths } from "../support/look.ts";
import { provideList } from "./list-page.ts";

const { page, open, link, reset } = await provideList();

test("a pull request is in its session's row, leads to its page, and from there to the message that proves it", async () => {
  await reset();
  const { rows: made } = await pool().query("select user_id, id from trace where source_id = '119'");
  await pool().query("update trace set model = 'claude-opus-4-5-20251101' where source_id = '119'");
  const key = { userId: made[0].user_id, traceId: made[0].id, position: 0, evidence: "gh-pr-create" };
  const opened = [12, 13].map((number) => ({ number, url: `https://github.com/ada/api/pull/${number}` }));
  await prisma().tracePullRequest.createMany({
    data: opened.map((one) => ({ ...key, ...one, repository: "ada/api" })),
  });
  await prisma().traceBranch.create({ data: { ...key, branch: "mend-timer", evidence: "message" } });
  const repository = "git@github.com:ada/api.git";
  const commit = { hash: "abc1234", subject: "Mend the timer", repository, evidence: "git-commit" };
  await prisma().traceCommit.create({ data: { ...key, ...commit } });

  await open("/traces?pr=ada/api%2312");
  await page.getByText("1 session", { exact: true }).first().waitFor();
  for (const width of widths.toReversed()) {
    await page.setViewportSize({ width, height: 800 });
    await expectGoodLook(page, "list-with-pull-request");
  }
  await link("#12 +1").click();
  await page.getByRole("heading", { name: "ada/api #12" }).waitFor();
  expect(await page.getByText("claude-opus-4-5", { exact: true }).getAttribute("title")).toBe(
    "claude-opus-4-5-20251101",
  );
  await page.getByText("1 session is linked to several pull requests and counts fully at each.").waitFor();
  expect(await link("On github.com").getAttribute("href")).toBe(opened[0]?.url);
  for (const width of widths.toReversed()) {
    await page.setViewportSize({ width, height: 800 });
    await expectGoodLook(page, "pull-request");
  }
  await link("Session 119").click();
  await page.waitForURL(/\/traces\/[0-9a-f-]{36}\?at=0$/);
  expect(await link("abc1234").getAttribute("href")).toBe("https://github.com/ada/api/commit/abc1234");
  await page.getByText("Mend the timer").waitFor();
  for (const width of widths.toReversed()) {
    await page.setViewportSize({ width, height: 800 });
    await expectGoodLook(page, "session-with-evidence");
  }
  await link("mend-timer").click();
  await link(/Remove filter branch/).waitFor();
  await page.getByText("1 session", { exact: true }).first().waitFor();
  await open("/traces?commit=HEAD&branch=mend-timer");
  await page.getByText("Ignored invalid filter: commit.").waitFor();
  await link(/Remove filter branch/).click();
  await page.getByText("120 sessions", { exact: true }).first().waitFor();
});
