import "server-only";
import { holdUsers } from "#lib/auth/sql";
import { pool, transaction } from "#lib/db/client";
import { readAliases } from "#lib/db/sql/project-aliases";
import { lockProjects } from "#lib/db/sql/run";
import {
  areMoving,
  endSettling,
  findUnsettled,
  markDue,
  moveTraces,
  moveUsage,
  type PlacedTrace,
  readOwnAliases,
  readTraces,
  readUnsettled,
  removeAliases,
  removeProject,
  type Unsettled,
} from "#lib/projects/sql/settle";
import { getAliasKey, listProjectSigns, type ProjectSign } from "#lib/transcript/project";

/** A tenth of a second, during which an upload of one of them may wait. */
const tracesAtOnce = 2000;
const pageSize = 1000;
const projectsAtOnce = 100;

/**
 * Pending work is marked in `unsettled`, so a run may be interrupted or repeated.
 * @returns the number of projects settled
 */
export async function settleProjects(seconds: number): Promise<number> {
  const deadline = performance.now() + seconds * 1000;
  let settled = 0;
  for (const project of await findUnsettled(projectsAtOnce)) {
    if (performance.now() >= deadline) break;
    if (await settle(project, deadline, Number.POSITIVE_INFINITY)) settled += 1;
  }
  return settled;
}

export async function settleProject(userId: string, id: string, seconds: number): Promise<void> {
  const project = await readUnsettled(userId, id);
  const deadline = performance.now() + seconds * 1000;
  if (project) await settle(project, deadline, deadline);
}

/** @param compareUntil a worker sets none, since a comparison starts over with the newest traces */
const settle = (project: Unsettled, deadline: number, compareUntil: number): Promise<boolean> =>
  project.mergedInto === null ? compare(project, compareUntil) : handOver(project, project.mergedInto, deadline);

async function handOver(project: Unsettled, into: string, deadline: number): Promise<boolean> {
  const { userId, id } = project;
  let moved = tracesAtOnce;
  while (moved > 0 && performance.now() < deadline)
    moved = await inTurn(userId, (tx) => moveTraces(tx, userId, id, into, tracesAtOnce));
  if (moved > 0) return false;
  await inTurn(userId, async (tx) => {
    await moveUsage(tx, userId, id, into);
    await removeProject(tx, project);
    return 0;
  });
  return true;
}

/** @returns 0 if the user is being deleted */
const inTurn = (userId: string, work: (tx: Parameters<typeof lockProjects>[0]) => Promise<number>): Promise<number> =>
  transaction(async (tx) => {
    if (!(await holdUsers(tx, [userId], false)).has(userId)) return 0;
    await lockProjects(tx, userId);
    return work(tx);
  });

/**
 * Leaves traces that must move to the ledger, which also counts their usage again. If none must, this ends once every
 * alias was seen, usually among the newest traces.
 */
async function compare(project: Unsettled, deadline: number): Promise<boolean> {
  const { userId, id, moving } = project;
  const unused = new Map((await readOwnAliases(project)).map((alias) => [getAliasKey(alias), alias]));
  let last: PlacedTrace | undefined;
  do {
    const traces = await readTraces(userId, id, last, pageSize);
    if (traces.length === 0) break;
    const signs = new Map(traces.map((trace) => [trace.id, listProjectSigns(trace)]));
    for (const sign of [...signs.values()].flat()) {
      unused.delete(getAliasKey(sign));
      // Until the ledger reads the trace again, the folder has its former spelling.
      if (sign.former !== undefined) unused.delete(getAliasKey({ ...sign, value: sign.former }));
    }
    if (moving && !(await sendAway(userId, id, signs))) return false; // some are locked by an upload
    last = traces.at(-1);
    if (performance.now() >= deadline) return false;
  } while (moving || unused.size > 0);
  await inTurn(userId, async (tx) => {
    if (last && unused.size === 0) return Number(await endSettling(tx, project));
    if (await areMoving(tx, userId, id)) return 0;
    if (!last) await removeProject(tx, project);
    else if (await endSettling(tx, project)) await removeAliases(tx, project, [...unused.values()]);
    return 0;
  });
  return true;
}

async function sendAway(userId: string, projectId: string, signs: Map<string, ProjectSign[]>): Promise<boolean> {
  const firsts = [...signs.values()].flatMap(([first]) => first ?? []);
  const places = await readAliases(pool(), userId, [
    ...new Map(firsts.map((sign) => [getAliasKey(sign), sign])).values(),
  ]);
  const projectsByAlias = new Map(places.map((alias) => [getAliasKey(alias), alias.projectId]));
  const leaving = [...signs].filter(([, [first]]) => !first || projectsByAlias.get(getAliasKey(first)) !== projectId);
  return (
    leaving.length === 0 ||
    (await markDue(
      userId,
      leaving.map(([id]) => id),
    )) === leaving.length
  );
}
