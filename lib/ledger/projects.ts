import "server-only";
import { randomUUID } from "node:crypto";
import type { PoolClient } from "pg";
import { lockProjects } from "#lib/db/sql/run";
import type { LedgerPart } from "#lib/ledger/part";
import {
  giveAway,
  insertAliases,
  insertProjects,
  moveAlias,
  nameProject,
  noteArrivals,
  readAliases,
  readPlaces,
  readProjects,
  respellAlias,
  type StoredAlias,
  type StoredProject,
  unsettle,
} from "#lib/ledger/sql/projects";
import { type ProjectAlias, type ProjectSign, signsOf, type Whereabouts } from "#lib/reader/project";

type PlacedTrace = Whereabouts & { id: string };

/** The part of the ledger that says which project a trace is of. It needs no messages: the trace's own fields tell it. */
export const projectsPart: LedgerPart<null> = {
  begin: () => ({ see: () => {}, found: () => null }),
  write: async (tx, userId, traces) => {
    const places = await placeTraces(
      tx,
      userId,
      traces.map(({ trace }) => trace),
    );
    return new Map([...places].map(([id, projectId]) => [id, { projectId }]));
  },
  remove: async (tx, userId, traceIds) => {
    await releaseTraces(tx, userId, traceIds);
    return undefined;
  },
};

/**
 * Finds the project of each trace, and makes those that there are not yet. A remote wins over a folder, and a folder that was
 * seen with a remote is of the remote's project from then on, with the traces that it had before.
 *
 * @returns the projects' ids by those of the traces; null for a trace that nothing proves one of.
 */
export async function placeTraces(
  tx: PoolClient,
  userId: string,
  traces: PlacedTrace[],
): Promise<Map<string, string | null>> {
  const signs = new Map(traces.map((trace) => [trace.id, signsOf(trace)]));
  await lockProjects(tx, userId);
  const before = await readPlaces(tx, userId, [...signs.keys()]);
  const register = await openRegister(tx, userId, [...signs.values()].flat());
  const places = new Map([...signs].map(([id, proofs]) => [id, register.place(proofs)]));
  await register.write();
  const arrived = [...places].filter(([id, projectId]) => projectId !== null && before.get(id) !== projectId);
  const left = [...before].filter(([id, projectId]) => places.get(id) !== projectId);
  const ids = (entries: [string, string | null][]) => [...new Set(entries.flatMap(([, id]) => id ?? []))];
  if (arrived.length > 0) await noteArrivals(tx, userId, ids(arrived));
  if (left.length > 0) await unsettle(tx, userId, ids(left), false);
  return places;
}

/** Has the projects of deleted traces compared with the traces that they have left. */
async function releaseTraces(tx: PoolClient, userId: string, traceIds: string[]): Promise<void> {
  const places = await readPlaces(tx, userId, traceIds);
  if (places.size === 0) return;
  await lockProjects(tx, userId);
  await unsettle(tx, userId, [...new Set(places.values())], false);
}

const keyOf = ({ kind, machine, value }: ProjectAlias) => JSON.stringify([kind, machine, value]);

/** The sign as earlier releases stored it, where they did so otherwise. */
const formerOf = ({ former, ...sign }: ProjectSign): ProjectSign[] =>
  former === undefined ? [] : [{ ...sign, value: former }];

async function openRegister(tx: PoolClient, userId: string, signs: ProjectSign[]): Promise<Register> {
  const all = signs.flatMap((sign) => [sign, ...formerOf(sign)]);
  const wanted = [...new Map(all.map((sign) => [keyOf(sign), sign])).values()];
  const aliases = wanted.length > 0 ? await readAliases(tx, userId, wanted) : [];
  const ids = [...new Set(aliases.map(({ projectId }) => projectId))];
  return new Register(tx, userId, aliases, ids.length > 0 ? await readProjects(tx, userId, ids) : []);
}

/** A user's projects and aliases, as far as some traces need them, and what is to be written of them. */
class Register {
  readonly #tx: PoolClient;
  readonly #userId: string;
  readonly #aliases: Map<string, StoredAlias>;
  readonly #projects: Map<string, StoredProject>;
  readonly #newProjects: StoredProject[] = [];
  readonly #newAliases: StoredAlias[] = [];
  readonly #named = new Set<StoredProject>();
  /** Folders that go to the project of their remote, and where they were. */
  readonly #moves: { alias: StoredAlias; from: StoredProject }[] = [];
  /** Folders that an earlier release stored in another spelling, as it stored them. */
  readonly #respelled: { alias: StoredAlias; former: string }[] = [];

  constructor(tx: PoolClient, userId: string, aliases: StoredAlias[], projects: StoredProject[]) {
    this.#tx = tx;
    this.#userId = userId;
    this.#aliases = new Map(aliases.map((alias) => [keyOf(alias), alias]));
    this.#projects = new Map(projects.map((project) => [project.id, project]));
  }

  /** The project that a trace's signs prove. */
  place([first, second]: ProjectSign[]): string | null {
    if (!first) return null;
    const project = this.#projectOf(first);
    if (!second) return (project ?? this.#make(first)).id;
    const folderProject = this.#projectOf(second);
    if (!project) return this.#learnRemote(first, second, folderProject).id;
    if (!folderProject) this.#add(second, project);
    else if (folderProject !== project) this.#join(second, folderProject, project);
    return project.id;
  }

  #projectOf(sign: ProjectSign): StoredProject | undefined {
    this.#respell(sign);
    return this.#projects.get(this.#aliases.get(keyOf(sign))?.projectId ?? "");
  }

  /** Lets an alias in a former spelling be the sign's, or join the project that has the sign already. */
  #respell(sign: ProjectSign): void {
    const [before] = formerOf(sign);
    const alias = before && this.#aliases.get(keyOf(before));
    if (!before || !alias) return;
    const [from, into] = [alias, this.#aliases.get(keyOf(sign))].map((one) => this.#projects.get(one?.projectId ?? ""));
    if (from && into) {
      if (from !== into) this.#join(before, from, into);
      return;
    }
    this.#aliases.delete(keyOf(before));
    this.#respelled.push({ alias, former: alias.value });
    alias.value = sign.value;
    this.#aliases.set(keyOf(sign), alias);
  }

  #make(sign: ProjectSign): StoredProject {
    const project = { id: randomUUID(), name: sign.name, renamed: false, aliases: 0, hasRemote: false };
    this.#projects.set(project.id, project);
    this.#newProjects.push(project);
    this.#add(sign, project);
    return project;
  }

  #add(sign: ProjectSign, project: StoredProject): void {
    const { kind, machine, value } = sign;
    const alias = { kind, machine, value, projectId: project.id, isPlaced: false };
    this.#aliases.set(keyOf(sign), alias);
    this.#newAliases.push(alias);
    project.aliases += 1;
    project.hasRemote ||= kind === "remote";
  }

  /** A remote that no trace had before: the folder's project has it from now on, unless it has another one. */
  #learnRemote(remote: ProjectSign, folder: ProjectSign, known: StoredProject | undefined): StoredProject {
    if (known && !known.hasRemote) {
      this.#add(remote, known);
      this.#name(known, remote.name, false);
      return known;
    }
    const project = this.#make(remote);
    if (!known) this.#add(folder, project);
    return project;
  }

  /** A folder that is known with its remote now, whose projects were two. One with a remote of its own stays, and what a person decided. */
  #join(folder: ProjectSign, from: StoredProject, into: StoredProject): void {
    const alias = this.#aliases.get(keyOf(folder));
    if (!alias || alias.isPlaced || from.hasRemote) return;
    alias.projectId = into.id;
    from.aliases -= 1;
    into.aliases += 1;
    this.#moves.push({ alias, from });
    if (from.aliases === 0 && from.renamed) this.#name(into, from.name, true);
  }

  /** A name that a person gave stays. */
  #name(project: StoredProject, name: string, renamed: boolean): void {
    if (project.renamed || project.name === name) return;
    Object.assign(project, { name, renamed });
    this.#named.add(project);
  }

  async write(): Promise<void> {
    const [tx, userId] = [this.#tx, this.#userId];
    if (this.#newProjects.length > 0) await insertProjects(tx, userId, this.#newProjects);
    if (this.#newAliases.length > 0) await insertAliases(tx, userId, this.#newAliases);
    const isNew = new Set(this.#newProjects);
    for (const project of this.#named) if (!isNew.has(project)) await nameProject(tx, userId, project);
    for (const { alias, former } of this.#respelled)
      await respellAlias(tx, userId, { ...alias, value: former }, alias.value);
    for (const { alias, from } of this.#moves) {
      await moveAlias(tx, userId, alias, alias.projectId);
      if (from.aliases === 0) await giveAway(tx, userId, from.id, alias.projectId);
      else await unsettle(tx, userId, [from.id], true);
    }
  }
}
