import type { Fields } from "../../files/json.ts";
import type { Message } from "../adapter.ts";
import { asFields, asString } from "../values.ts";

const getSpawn = ({ source: from }: Fields): Fields => {
  const subagent = asFields(from).subagent;
  return asFields(asFields(subagent).thread_spawn);
};

export const getParentId = (meta: Fields): string | undefined =>
  asString(meta.parent_thread_id) ?? asString(getSpawn(meta).parent_thread_id);

export const getAgentPath = (meta: Fields): string | undefined =>
  asString(meta.agent_path) ?? asString(getSpawn(meta).agent_path);

/** The name of the task replaces one that is encrypted. */
export function makeAgentTitle(task: string | undefined, path: string | undefined): string | undefined {
  const line = task?.split("\n").find((one) => one.trim() !== "");
  return line?.trim() ?? asString(path?.split("/").at(-1)?.replaceAll("_", " "));
}

const maxTaskChars = 2048;

export const findTask = (messages: Message[]): string | undefined =>
  messages
    .find(({ role, metadata }) => role === "user" && metadata?.kind === undefined)
    ?.content.slice(0, maxTaskChars);
