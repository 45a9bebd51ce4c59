import { beforeEach, describe, expect, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { pool, transaction } from "#lib/db/client";
import { accountTraces } from "#lib/ledger/account";
import { placeTraces } from "#lib/ledger/projects";
import { mergeProjects, renameProject, splitProject } from "#lib/projects/change";
import { labelText, readLabels } from "#lib/projects/queries";
import { settleProjects } from "#lib/projects/settle";
import { deleteTrace } from "#lib/traces/deletion";
import { getAliasKey } from "#lib/transcript/project";
import { answerUsage } from "#lib/usage/answer";
import { usageQuery } from "#lib/usage/schema";
import { makeUser, provideOwner } from "../support/server.ts";
import { getUploads, messages } from "./uploads.ts";

const { userId } = await provideOwner();
const { send, stored } = getUploads(userId);

beforeEach(async () => {
  for (const table of ["trace", "trace_usage", "usage_facets", "project_alias", "project"])
    await pool().query(`delete from ${table}`);
});

type Told = { cwd?: string; repository?: string; project?: string; machine?: string };

const session = (sourceId: string, { cwd, repository, project }: Told) => ({
  sourceId,
  createdAt: new Date().toISOString(),
  ...(project && { project }),
  metadata: { ...(cwd && { cwd }), ...(repository && { repository }) },
  messages: messages("x"),
});

/** Sends sessions one by one and takes each in. */
async function tell(sessions: Record<string, Told>, user = userId) {
  for (const [sourceId, told] of Object.entries(sessions)) {
    await getUploads(user).send(session(sourceId, told));
    if (told.machine)
      await pool().query("update trace set machine = $2 where source_id = $1", [sourceId, told.machine]);
    await accountTraces(10);
  }
}

/** Settles and takes in until nothing is left. */
async function settleAll() {
  for (let round = 0; round < 10; round += 1) {
    await settleProjects(10);
    await accountTraces(10);
    const { rows } = await pool().query("select 1 from project where unsettled > 0");
    if (rows.length === 0) return;
  }
  throw new Error("it never settled");
}

/** The projects' names with the source ids of their sessions. */
async function placed(user = userId) {
  const { rows } = await pool().query(
    `select project.name, coalesce(string_agg(source_id, ' ' order by source_id), '') as sessions
     from project left join trace
       on trace.user_id = project.user_id and trace.project_id = project.id and trace.deleted_at is null
     where project.user_id = $1 group by project.id, name order by 2`,
    [user],
  );
  return rows.map(({ name, sessions }) => `${name}: ${sessions}`);
}

/** In how many sessions something was used, by project. */
async function used() {
  const { rows } = await pool().query(
    `select project_id, count(distinct trace_id)::int from trace_usage join usage_facets using (user_id, facets) group by 1`,
  );
  return Object.fromEntries(rows.map(({ project_id, count }) => [project_id, count]));
}

const readProject = async (sourceId: string): Promise<string> => {
  const { rows } = await pool().query("select project_id from trace where source_id = $1", [sourceId]);
  return rows[0]?.project_id;
};

const folder = (value: string, machine = "test") => getAliasKey({ kind: "folder", machine, value });
const api = "git@github.com:ada/api.git";

describe("a session's project", () => {
  test("is one over machines and worktrees, by its remote", async () => {
    await tell({
      a: { cwd: "/home/ada/api", repository: api },
      b: { cwd: "/Users/ada/code/api", repository: "https://github.com/Ada/api", machine: "mac" },
      c: { cwd: "/home/ada/api/.claude/worktrees/agent-a1b2c3d4" },
      d: { repository: "ssh://git@github.com/ada/api" },
    });
    expect(await placed()).toEqual(["api: a b c d"]);
  });

  test("is not that of another folder or machine of the same name", async () => {
    await tell({
      a: { cwd: "/home/ada/api" },
      b: { cwd: "/home/bob/api" },
      c: { cwd: "/home/ada/api", machine: "other" },
      d: { project: "api" },
      e: { cwd: "/srv/api", repository: "https://git.example.org/x/api" },
      f: { cwd: "/srv/api", repository: api, machine: "other" },
    });
    expect(await placed()).toEqual(["api: a", "api: b", "api: c", "api: d", "api: e", "api: f"]);
  });

  test("is none where nothing proves one, and never a sub-agent's name", async () => {
    await tell({
      a: {},
      b: { project: "agent-a1b2c3d4" },
      c: { project: "agent-0011aabb", cwd: "/tmp/agent-0011aabb" },
    });
    expect(await placed()).toEqual([]);
    expect(await readProject("b")).toBeNull();
    const query = usageQuery.parse({ by: "project", unit: "total" });
    const { values, spans } = await answerUsage(userId, query);
    expect(values?.map(({ value, sessions }) => [value, sessions])).toEqual([[null, 3]]);
    expect(spans[0]?.values).toHaveLength(1);
  });

  test("follows what a later upload tells, and the empty one goes", async () => {
    await tell({ a: { cwd: "/home/ada/old" } });
    await tell({ a: { cwd: "/home/ada/new" } });
    await settleAll();
    expect(await placed()).toEqual(["new: a"]);
  });
});

describe("a remote that is learnt later", () => {
  test("is the folder's from then on, which keeps its id", async () => {
    await tell({ a: { cwd: "/home/ada/server" } });
    const before = await readProject("a");
    await tell({ b: { cwd: "/home/ada/server", repository: api }, c: { cwd: "/home/ada/server" } });
    expect(await placed()).toEqual(["api: a b c"]);
    expect(await readProject("c")).toBe(before);
  });

  test("and known from another folder takes the folder with its sessions", async () => {
    await tell({ a: { cwd: "/x/api", repository: api }, b: { cwd: "/y/api" }, c: { cwd: "/y/api" } });
    await renameProject(userId, await readProject("b"), "My API");
    await tell({ d: { cwd: "/y/api", repository: api } });
    await settleAll();
    expect(await placed()).toEqual(["My API: a b c d"]);
  });

  test("leaves a folder with another remote where it is", async () => {
    const fork = "https://github.com/bob/fork";
    await tell({
      a: { cwd: "/x", repository: api },
      b: { cwd: "/x", repository: fork },
      c: { cwd: "/x" },
      d: { cwd: "/z", repository: fork },
    });
    await settleAll();
    expect(await placed()).toEqual(["api: a c", "fork: b d"]);
  });

  test("takes a folder out of a project that was merged by hand only where no person put it there", async () => {
    await tell({ a: { cwd: "/x" }, b: { cwd: "/y" }, c: { cwd: "/z", repository: api } });
    await mergeProjects(userId, await readProject("a"), await readProject("b"));
    await tell({ d: { cwd: "/x", repository: api } }); // /x was put to /y
    await tell({ e: { cwd: "/y", repository: api } }); // /y was not
    await settleAll();
    expect(await placed()).toEqual(["y: a", "api: b c d e"]);
  });
});

describe("by hand", () => {
  test("two projects are merged, with their usage and what comes later, and split again", async () => {
    await tell({ a: { cwd: "/x/api" }, b: { cwd: "/y/web" }, c: { cwd: "/y/web", repository: api } });
    const [from, into] = [await readProject("a"), await readProject("b")];
    expect(await mergeProjects(userId, from, into)).toBe("api");
    await tell({ d: { cwd: "/x/api" } });
    expect(await placed()).toEqual(["api: a b c d"]);
    expect(await used()).toEqual({ [into]: 4 });
    await expect(mergeProjects(userId, from, into)).rejects.toThrow();

    const added = await splitProject(userId, into, { mergedFrom: from }, "First");
    await settleAll();
    expect(await placed()).toEqual(["First: a d", "api: b c"]);
    expect(await readProject("a")).toBe(added);
    expect(await used()).toEqual({ [into]: 2, [added]: 2 });
  });

  test("a folder that was split off stays apart, also from its remote", async () => {
    await tell({ a: { cwd: "/x", repository: api }, b: { cwd: "/y", repository: api }, c: { cwd: "/y" } });
    await splitProject(userId, await readProject("a"), { keys: [folder("/y")] });
    await settleAll();
    await tell({ d: { cwd: "/y", repository: api }, e: { cwd: "/y" } });
    await settleAll();
    expect(await placed()).toEqual(["api: a b d", "y: c e"]);
  });

  test("a project is not split into nothing, nor by what is another's", async () => {
    await tell({ a: { cwd: "/x" }, b: { cwd: "/y" } });
    const id = await readProject("a");
    await expect(splitProject(userId, id, { keys: [folder("/x")] })).rejects.toThrow("Leave at least one");
    await expect(splitProject(userId, id, { keys: [folder("/y"), "x"] })).rejects.toThrow("Choose at least one");
    const other = await makeUser({ name: "Bob", email: "bob@example.org", password: "" });
    await expect(renameProject(other, id, "mine")).rejects.toThrow("Not found");
    await expect(mergeProjects(other, id, await readProject("b"))).rejects.toThrow("Not found");
    await expect(splitProject(other, id, { keys: [folder("/x")] })).rejects.toThrow("Not found");
    expect(await placed()).toEqual(["x: a", "y: b"]);
  });

  test("a chain of merges under way ends in its last project", async () => {
    await tell({ a: { cwd: "/a" }, b: { cwd: "/b" }, c: { cwd: "/c" } });
    const [a, b, c] = [await readProject("a"), await readProject("b"), await readProject("c")];
    const locked = await pool().connect();
    await locked.query("begin");
    await locked.query("select 1 from trace where user_id = $1 and source_id = 'a' for update", [userId]); // an upload of it
    await mergeProjects(userId, a, b);
    await mergeProjects(userId, b, c);
    expect(await readProject("a")).toBe(a); // it did not wait for the upload
    await locked.query("commit");
    locked.release();
    await settleAll();
    expect(await placed()).toEqual(["c: a b c"]);
  });
});

describe("at once", () => {
  test("two workers that see the same new project make one", async () => {
    await send(...["a", "b", "c", "d"].map((id) => session(id, { cwd: "/x", repository: api })));
    const { rows } = await pool().query("select id, project, machine, metadata from trace");
    const places = await Promise.all(rows.map((row) => transaction((tx) => placeTraces(tx, userId, [row]))));
    expect(new Set(places.flatMap((place) => [...place.values()])).size).toBe(1);
    expect((await pool().query("select 1 from project")).rowCount).toBe(1);
  });

  test("merges in both directions, uploads and a worker leave every session in a project that there is", async () => {
    await tell({ a: { cwd: "/x" }, b: { cwd: "/y" } });
    const [a, b] = [await readProject("a"), await readProject("b")];
    await send(session("c", { cwd: "/x" }), session("d", { cwd: "/y" }));
    await Promise.allSettled([
      mergeProjects(userId, a, b),
      accountTraces(10),
      mergeProjects(userId, b, a),
      accountTraces(10),
      settleProjects(5),
    ]);
    await settleAll();
    expect(await placed()).toEqual([expect.stringMatching(/^[xy]: a b c d$/)]);
  });

  test("a merge of many sessions is taken up where it was interrupted", async () => {
    await tell({ a: { cwd: "/x" }, b: { cwd: "/y" } });
    const [a, b] = [await readProject("a"), await readProject("b")];
    await pool().query(
      `insert into trace (user_id, id, source, source_id, message_count, token_count, content_hash, upload_sequence, activity_at,
         project_id, ledger_due, machine, metadata)
       select $1, gen_random_uuid(), 'test', 'n' || n, 0, 0, '', 0, now(), $2, false, 'test', '{"cwd":"/x"}'
       from generate_series(1, 2050) as n`,
      [userId, a],
    );
    await pool().query("analyze trace"); // what the server does by itself within a minute
    await pool().query("update project set merged_into = $2, unsettled = 1 where id = $1", [a, b]); // and killed
    await pool().query("update project_alias set project_id = $2, moved_from = $1 where project_id = $1", [a, b]);
    await settleProjects(0.001);
    await settleAll();
    const counts = "select project_id, count(*)::int from trace group by 1";
    expect((await pool().query(counts)).rows).toEqual([{ project_id: b, count: 2052 }]);
    await pool().query("delete from trace where length(source_id) > 3"); // the ledger would count each anew
    await splitProject(userId, b, { mergedFrom: a });
    await settleAll();
    expect((await pool().query(counts)).rows.map(({ count }) => count).toSorted()).toEqual([1, 100]);
  });
});

test("projects of one name are told apart by what is known of them, and say where that is the name alone", async () => {
  await tell({
    a: { cwd: "/home/ada/api", repository: "git@github.com:ada/api.git" },
    b: { cwd: "/srv/api", machine: "tower" },
    c: { project: "api" },
    d: { project: "web" },
  });
  const { rows } = await pool().query<{ id: string }>("select id from project");
  const labels = await readLabels(
    userId,
    rows.map(({ id }) => id),
  );
  expect([...labels.values()].map(labelText).sort()).toEqual([
    "api · /srv/api on tower",
    "api · folder unknown",
    "api · github.com/ada/api",
    "web",
  ]);
});

test("of deleted sessions neither projects nor folders are left", async () => {
  await tell({ a: { cwd: "/x", repository: api }, b: { cwd: "/secret", repository: api }, c: { cwd: "/other" } });
  for (const sourceId of ["b", "c"]) {
    const id = (await stored(sourceId))?.id ?? "";
    await deleteTrace(userId, id, operator);
    await accountTraces(10);
  }
  await settleAll();
  expect(await placed()).toEqual(["api: a"]);
  const { rows } = await pool().query("select value from project_alias order by kind");
  expect(rows).toEqual([{ value: "/x" }, { value: "github.com/ada/api" }]);
});
