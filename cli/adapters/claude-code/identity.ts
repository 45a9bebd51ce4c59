import { basename, dirname } from "node:path";
import type { Fields } from "../../files/json.ts";
import { readJsonFile } from "../../files/state-files.ts";
import { asFields, asString } from "../values.ts";

export type SessionIdentity = {
  name: string;
  isAgent: boolean;
  session?: string;
  /** The `sourceId` of the session that started this one. */
  parent?: string;
  description?: string;
  /** The part of an older session's file that is a sub-agent's. */
  isSidechain?: boolean;
  given?: Given;
};

export type Given = { title?: string; folder?: string; hasProject: boolean; createdAt?: number };

export async function readIdentity(path: string): Promise<SessionIdentity> {
  const name = basename(path, ".jsonl");
  if (!name.startsWith("agent-")) return { name, isAgent: false };
  const session = getSessionName(path);
  const started = session === undefined ? {} : await readMeta(path);
  const starter = asString(started.parentAgentId);
  const description = asString(started.description);
  return {
    name,
    isAgent: true,
    ...(session && { session, parent: starter ? `${session}/agent-${starter}` : session }),
    ...(description && { description }),
  };
}

const getSessionName = (path: string): string | undefined => {
  const file = getSessionPath(path);
  return file && basename(file, ".jsonl");
};

async function readMeta(path: string): Promise<Fields> {
  const meta = await readJsonFile(path.replace(/\.jsonl$/, ".meta.json"));
  return asFields(meta);
}

export function getSessionPath(path: string): string | undefined {
  for (let folder = dirname(path); dirname(folder) !== folder; folder = dirname(folder))
    if (basename(folder) === "subagents") return `${dirname(folder)}.jsonl`;
  return undefined;
}
