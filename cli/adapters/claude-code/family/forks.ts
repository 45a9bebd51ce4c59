import { basename } from "node:path";
import { type Fields, isFields } from "../../../files/json.ts";
import { readLines } from "../../../files/line-reader.ts";
import { Originals } from "../../originals.ts";
import { getSessionPath } from "../identity.ts";
import { type FamilyMember, findOlder, readMember } from "./family.ts";
import { readHead } from "./heads.ts";
import { getLineKey, makeLineKey } from "./known-lines.ts";

export const mayCopy = ({
  originals,
  stored,
}: {
  originals: Originals<number>;
  stored: ReadonlySet<string>;
}): boolean => !originals.isEmpty || stored.size > 0;

/** Forks copy lines, and so did versions that resumed a session in a new file. */
export function isCopied(record: Fields, originals: Originals<number>): boolean {
  if (originals.isEmpty) return false;
  const { forkedFrom, timestamp } = record;
  return originals.recognize(
    getLineKey(record),
    isFields(forkedFrom) ? makeLineKey(forkedFrom.messageUuid, timestamp) : undefined,
  );
}

export async function findOriginals(path: string, suffix = ""): Promise<Originals<number>> {
  return new Originals((await findOlder(path)).map((one) => toOlder(one, suffix)));
}

const toOlder = ({ sourceId, lines }: FamilyMember, suffix = "") => ({
  sourceId: sourceId + suffix,
  has: (key: number) => lines.has(key),
});

/** An agent of the program's own, such as `agent-acompact-…`, begins with a copy of its session's conversation. */
const programAgent = /^agent-a[a-z_]+-/;

export async function findAgentsOriginals(path: string): Promise<Originals<number>> {
  const session = getSessionPath(path);
  const { first } = readHead(path);
  const isLikely =
    session !== undefined &&
    (programAgent.test(basename(path)) || (first !== undefined && readHead(session).first === first));
  const member = isLikely ? await readMember(session) : undefined;
  return new Originals(member ? [toOlder(member)] : []);
}

export async function findUuids(path: string, wanted: ReadonlySet<string>): Promise<Set<string>> {
  const uuids = new Set<string>();
  const take = (line: string) => {
    const uuid = /"uuid":\s*"([^"\\]{1,64})"/.exec(line)?.[1];
    if (uuid && wanted.has(uuid)) uuids.add(uuid);
  };
  await readLines(path, take, { tooLong() {}, pause: async () => {} });
  return uuids;
}
