import { expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { accountTraces } from "#lib/ledger/account";
import { provideOwner } from "../support/server.ts";
import { messages, uploadsOf } from "./uploads.ts";

const { userId } = await provideOwner();
const { send } = uploadsOf(userId);

async function tell(sourceId: string, metadata: Record<string, string>) {
  await send({ sourceId, metadata, messages: messages("x") });
  await accountTraces(10);
}
const gitDir = "/home/ada/api/.git/worktrees/fix";

test("a worktree beside its repository is the repository's project, whichever comes first, and when it is gone", async () => {
  await tell("before", { cwd: "/home/ada/api-fix" });
  await tell("worktree", { cwd: "/home/ada/api-fix", gitDir });
  await tell("main", { cwd: "/home/ada/api" });
  await tell("gone", { cwd: "/home/ada/api-fix" });
  await tell("other", { cwd: "/home/ada/api-new" });
  const { rows } = await pool().query(
    `select name, array_agg(source_id order by source_id) as sessions from project
     join trace on trace.project_id = project.id group by project.id, name order by name`,
  );
  expect(rows).toEqual([
    { name: "api", sessions: ["before", "gone", "main", "worktree"] },
    { name: "api-new", sessions: ["other"] },
  ]);
});
