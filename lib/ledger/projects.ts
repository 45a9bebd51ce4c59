import "server-only";
import { randomUUID } from "node:crypto";
import type { PoolClient } from "pg";
import { giveAway, noteArrivals, readAliases, type StoredAlias, unsettle } from "#lib/db/sql/project-aliases";
import { lockProjects } from "#lib/db/sql/run";
import type { LedgerPart } from "#lib/ledger/part";
import {
  insertAliases,
  insertProjects,
  moveAlias,
  nameProject,
  readPlaces,
  readProjects,
  respellAlias,
  type StoredProject,
} from "#lib/ledger/sql/projects";
import { getAliasKey, listProjectSigns, type ProjectSign, type Whereabouts } from "#lib/transcript/project";

type PlacedTrace = Whereabouts & { id: string };

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
 * Once a folder is seen with a remote, its earlier traces belong to the remote's project.
 * @returns project ids by trace id; null if nothing identifies a project
 */
export async function placeTraces(
  tx: PoolClient,
  userId: string,
  traces: PlacedTrace[],
): Promise<Map<string, string | null>> {
  const signs = new Map(traces.map((trace) => [trace.id, listProjectSigns(trace)]));
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

async function releaseTraces(tx: PoolClient, userId: string, traceIds: string[]): Promise<void> {
  const places = await readPlaces(tx, userId, traceIds);
  if (places.size === 0) return;
  await lockProjects(tx, userId);
  await unsettle(tx, userId, [...new Set(places.values())], false);
}

const getFormerSigns = ({ former, ...sign }: ProjectSign): ProjectSign[] =>
  former === undefined ? [] : [{ ...sign, value: former }];

async function openRegister(tx: PoolClient, userId: string, signs: ProjectSign[]): Promise<Register> {
  const all = signs.flatMap((sign) => [sign, ...getFormerSigns(sign)]);
  const wanted = [...new Map(all.map((sign) => [getAliasKey(sign), sign])).values()];
  const aliases = wanted.length > 0 ? await readAliases(tx, userId, wanted) : [];
  const ids = [...new Set(aliases.map(({ projectId }) => projectId))];
  return new Register(tx, userId, aliases, ids.length > 0 ? await readProjects(tx, userId, ids) : []);
}

class Register {
  readonly #tx: PoolClient;
  readonly #userId: string;
  readonly #aliases: Map<string, StoredAlias>;
  readonly #projects: Map<string, StoredProject>;
  readonly #newProjects: StoredProject[] = [];
  readonly #newAliases: StoredAlias[] = [];
  readonly #named = new Set<StoredProject>();
  readonly #moves: { alias: StoredAlias; from: StoredProject }[] = [];
  readonly #respelled: { alias: StoredAlias; former: string }[] = [];

  constructor(tx: PoolClient, userId: string, aliases: StoredAlias[], projects: StoredProject[]) {
    this.#tx = tx;
    this.#userId = userId;
    this.#aliases = new Map(aliases.map((alias) => [getAliasKey(alias), alias]));
    this.#projects = new Map(projects.map((project) => [project.id, project]));
  }

  place([first, second]: ProjectSign[]): string | null {
    if (!first) return null;
    const project = this.#findProject(first);
    if (!second) return (project ?? this.#make(first)).id;
    const folderProject = this.#findProject(second);
    if (!project) return this.#learnRemote(first, second, folderProject).id;
    if (!folderProject) this.#add(second, project);
    else if (folderProject !== project) this.#join(second, folderProject, project);
    return project.id;
  }

  #findProject(sign: ProjectSign): StoredProject | undefined {
    this.#respell(sign);
    return this.#projects.get(this.#aliases.get(getAliasKey(sign))?.projectId ?? "");
  }

  #respell(sign: ProjectSign): void {
    const [before] = getFormerSigns(sign);
    const alias = before && this.#aliases.get(getAliasKey(before));
    if (!before || !alias) return;
    const [from, into] = [alias, this.#aliases.get(getAliasKey(sign))].map((one) =>
      this.#projects.get(one?.projectId ?? ""),
    );
    if (from && into) {
      if (from !== into) this.#join(before, from, into);
      return;
    }
    this.#aliases.delete(getAliasKey(before));
    this.#respelled.push({ alias, former: alias.value });
    alias.value = sign.value;
    this.#aliases.set(getAliasKey(sign), alias);
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
    this.#aliases.set(getAliasKey(sign), alias);
    this.#newAliases.push(alias);
    project.aliases += 1;
    project.hasRemote ||= kind === "remote";
  }

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

  /** A folder's project may have its own remote, or a place given by a person. */
  #join(folder: ProjectSign, from: StoredProject, into: StoredProject): void {
    const alias = this.#aliases.get(getAliasKey(folder));
    if (!alias || alias.isPlaced || from.hasRemote) return;
    alias.projectId = into.id;
    from.aliases -= 1;
    into.aliases += 1;
    this.#moves.push({ alias, from });
    if (from.aliases === 0 && from.renamed) this.#name(into, from.name, true);
  }

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
