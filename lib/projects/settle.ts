import "server-only";
import { holdUsers } from "#lib/auth/sql";
import { transaction } from "#lib/db/client";
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
  readPlaces,
  readTraces,
  readUnsettled,
  removeAliases,
  removeProject,
  type Unsettled,
} from "#lib/projects/sql/settle";
import { type ProjectAlias, type ProjectSign, signsOf } from "#lib/reader/project";

/** How many traces a transaction moves: about a tenth of a second, for which an upload of one of them may have to wait. */
const tracesAtOnce = 2000;
/** How many are compared at once. */
const pageSize = 1000;
const projectsAtOnce = 100;

/**
 * Does what merges, splits and deletions left to be done: traces go to their aliases' projects, aliases without traces and
 * projects without either are removed. The work left is marked in the projects' rows (`unsettled`), so that an interrupted run
 * is taken up, and done twice it changes nothing.
 *
 * @param seconds how long to continue; the rest is left to the next call.
 * @returns how many projects were settled.
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

/** The same for one project, such as one that was merged at this moment. */
export async function settleProject(userId: string, id: string, seconds: number): Promise<void> {
  const project = await readUnsettled(userId, id);
  const deadline = performance.now() + seconds * 1000;
  if (project) await settle(project, deadline, deadline);
}

/** @param compareUntil when a comparison ends: it begins with the newest traces each time, so that a worker gives it none */
const settle = (project: Unsettled, deadline: number, compareUntil: number): Promise<boolean> =>
  project.mergedInto === null ? compare(project, compareUntil) : handOver(project, project.mergedInto, deadline);

/** Gives all traces of a project to the one that it was merged into. */
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

/** A transaction that is the only one to change a user's projects. @returns 0 where the user is being deleted */
const inTurn = (userId: string, work: (tx: Parameters<typeof lockProjects>[0]) => Promise<number>): Promise<number> =>
  transaction(async (tx) => {
    if (!(await holdUsers(tx, [userId], false)).has(userId)) return 0;
    await lockProjects(tx, userId);
    return work(tx);
  });

const keyOf = ({ kind, machine, value }: ProjectAlias) => JSON.stringify([kind, machine, value]);

/**
 * Compares a project's traces with its aliases: traces that have to leave it are left to the ledger, which counts their usage
 * anew, too. Where none has to, this ends as soon as every alias was seen, mostly with the newest traces.
 */
async function compare(project: Unsettled, deadline: number): Promise<boolean> {
  const { userId, id, moving } = project;
  const unused = new Map((await readOwnAliases(project)).map((alias) => [keyOf(alias), alias]));
  let last: PlacedTrace | undefined;
  do {
    const traces = await readTraces(userId, id, last, pageSize);
    if (traces.length === 0) break;
    const signs = new Map(traces.map((trace) => [trace.id, signsOf(trace)]));
    for (const sign of [...signs.values()].flat()) {
      unused.delete(keyOf(sign));
      // Until the ledger has seen the trace again, the folder is known by its former spelling.
      if (sign.former !== undefined) unused.delete(keyOf({ ...sign, value: sign.former }));
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

/** Leaves those traces to the ledger whose first sign is another project's. @returns whether it was all of them */
async function sendAway(userId: string, projectId: string, signs: Map<string, ProjectSign[]>): Promise<boolean> {
  const firsts = [...signs.values()].flatMap(([first]) => first ?? []);
  const places = await readPlaces(userId, [...new Map(firsts.map((sign) => [keyOf(sign), sign])).values()]);
  const projectOf = new Map(places.map((alias) => [keyOf(alias), alias.projectId]));
  const leaving = [...signs].filter(([, [first]]) => !first || projectOf.get(keyOf(first)) !== projectId);
  return (
    leaving.length === 0 ||
    (await markDue(
      userId,
      leaving.map(([id]) => id),
    )) === leaving.length
  );
}
