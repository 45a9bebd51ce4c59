import { beforeEach, expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { accountTraces } from "#lib/ledger/account";
import { renameProject } from "#lib/projects/change";
import { settleProjects } from "#lib/projects/settle";
import { provideOwner } from "../support/server.ts";
import { getUploads, messages } from "./uploads.ts";

const { userId } = await provideOwner();
const { send } = getUploads(userId);

beforeEach(async () => {
  for (const table of ["trace", "project_alias", "project"]) await pool().query(`delete from ${table}`);
});

/** Sends sessions of some folders one by one, and takes each in. */
async function tell(folders: Record<string, string | { cwd: string; gitDir: string }>) {
  for (const [sourceId, folder] of Object.entries(folders)) {
    const metadata = typeof folder === "string" ? { cwd: folder } : folder;
    await send({ sourceId, createdAt: "2026-03-03T14:00:00.000Z", metadata, messages: messages("x") });
    await accountTraces(10);
  }
  for (let round = 0; round < 5; round += 1) {
    await settleProjects(10);
    await accountTraces(10);
  }
}

/** The projects' names with the source ids of their sessions. */
async function placed() {
  const { rows } = await pool().query(
    `select project.name, string_agg(source_id, ' ' order by source_id) as sessions
     from project join trace on trace.user_id = project.user_id and trace.project_id = project.id
     where project.user_id = $1 group by project.id, name order by 2`,
    [userId],
  );
  return rows.map(({ name, sessions }) => `${name}: ${sessions}`);
}

const readProject = async (sourceId: string): Promise<string> => {
  const { rows } = await pool().query("select project_id from trace where user_id = $1 and source_id = $2", [
    userId,
    sourceId,
  ]);
  return rows[0]?.project_id;
};

const storedAs = (former: string, value: string) =>
  pool().query("update project_alias set value = $2 where user_id = $1 and value = $3", [userId, former, value]);

test("a project is one over all spellings of its folder", async () => {
  await tell({
    a: "C:\\Work\\Notes",
    b: "c:/work/notes/",
    c: "/mnt/c/Work/Notes/.claude/worktrees/x",
    d: "\\\\?\\C:\\Work\\Notes",
    e: "\\\\wsl.localhost\\Debian\\home\\ada\\api",
    f: "/home/ada/api",
  });
  expect(await placed()).toEqual(["Notes: a b c d", "api: e f"]);
});

test("what a release stored by another spelling stays the project, with the name that a person gave it", async () => {
  await tell({ g: "D:\\Old\\Shop", h: "E:\\Web" });
  const [shop, web] = [await readProject("g"), await readProject("h")];
  await renameProject(userId, shop, "My shop");
  await storedAs("D:/Old/Shop", "D:/old/shop");
  await storedAs("E:/Web", "E:/web");
  await tell({ i: "/mnt/d/old/shop", j: "D:\\Old\\Shop", k: "E:\\Web\\" });
  expect(await placed()).toEqual(["My shop: g i j", "Web: h k"]);
  expect(await readProject("k")).toBe(web);
});

test("a worktree beside its repository is the repository's project, whichever comes first, and when it is gone", async () => {
  await tell({
    before: "/home/ada/api-fix",
    worktree: { cwd: "/home/ada/api-fix", gitDir: "/home/ada/api/.git/worktrees/fix" },
    main: "/home/ada/api",
    gone: "/home/ada/api-fix",
    other: "/home/ada/api-new",
  });
  expect(await placed()).toEqual(["api: before gone main worktree", "api-new: other"]);
});
