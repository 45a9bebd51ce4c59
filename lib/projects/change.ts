import "server-only";
import { randomUUID } from "node:crypto";
import { notFound, SpoorError } from "#lib/core/errors";
import { prisma } from "#lib/db/client";
import { heavyTurn } from "#lib/db/heavy";
import { settleProject } from "#lib/projects/settle";
import { changing, mergeInto, readNames, readProjectAliases, splitOff } from "#lib/projects/sql/change";
import { getAliasKey, type ProjectAlias, projectName } from "#lib/transcript/project";

/** Seconds that a request moves traces itself; a worker moves the rest. */
const ownSeconds = 2;

/** The ledger keeps a name given by a person. */
export async function renameProject(userId: string, id: string, name: string): Promise<void> {
  const { count } = await prisma().project.updateMany({
    where: { userId, id, mergedInto: null },
    data: { name, renamed: true },
  });
  if (count === 0) throw notFound();
}

/**
 * @returns the first project's name
 * @throws SpoorError `not_found` if either is missing
 */
export async function mergeProjects(userId: string, id: string, into: string): Promise<string> {
  return heavyTurn(userId, async () => {
    const merged = await changing(userId, async (tx) => {
      const names = await readNames(tx, userId, [id, into]);
      const from = names.get(id);
      if (!from || !names.has(into) || id === into) throw notFound();
      await mergeInto(tx, { userId, id }, into);
      return from.name;
    });
    await settleProject(userId, id, ownSeconds);
    return merged;
  });
}

/**
 * Undoes a merge.
 * @param chosen keys of aliases, or the id of the merged project
 * @param name by default the first alias's
 * @returns the new project's id
 * @throws SpoorError `not_found`, or `invalid_request` if nothing is chosen or nothing would be left
 */
export async function splitProject(
  userId: string,
  id: string,
  chosen: { keys: string[] } | { mergedFrom: string },
  name?: string,
): Promise<string> {
  return heavyTurn(userId, async () => {
    const added = await changing(userId, async (tx) => {
      if (!(await readNames(tx, userId, [id])).has(id)) throw notFound();
      const aliases = await readProjectAliases(tx, { userId, id });
      const keys = "keys" in chosen ? new Set(chosen.keys) : undefined;
      const split = aliases.filter((alias) =>
        "mergedFrom" in chosen ? alias.movedFrom === chosen.mergedFrom : keys?.has(getAliasKey(alias)),
      );
      const [first] = split.toSorted((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
      if (!first) throw new SpoorError("invalid_request", "Choose at least one of them.");
      if (split.length === aliases.length)
        throw new SpoorError("invalid_request", "Leave at least one of them for this project.");
      const own = getAliasName(first);
      const project = { id: randomUUID(), name: name ?? own, renamed: name !== undefined && name !== own };
      await splitOff(tx, { userId, id }, split, project);
      return project.id;
    });
    await settleProject(userId, id, ownSeconds);
    return added;
  });
}

const order = ["remote", "folder", "name"];

function getAliasName({ kind, value }: ProjectAlias): string {
  const last = kind === "name" ? value : (value.split("/").filter(Boolean).at(-1) ?? value);
  return projectName(last) || "Unnamed";
}
