import { type Fields, isFields } from "../../files/json.ts";
import type { Message } from "../adapter.ts";
import { asString } from "../values.ts";

// What a thread tells of a sub-agent.

/** In older versions: `{subagent: {thread_spawn: {parent_thread_id, agent_path}}}`. */
const getSpawn = ({ source: from }: Fields): Fields => {
  const subagent = isFields(from) ? from.subagent : undefined;
  return isFields(subagent) && isFields(subagent.thread_spawn) ? subagent.thread_spawn : {};
};

/** The session that a sub-agent works for. */
export const getParentId = (meta: Fields): string | undefined =>
  asString(meta.parent_thread_id) ?? asString(getSpawn(meta).parent_thread_id);

/** A sub-agent's name among its session's agents, such as `/root/fix_login`. */
export const getAgentPath = (meta: Fields): string | undefined =>
  asString(meta.agent_path) ?? asString(getSpawn(meta).agent_path);

/** A sub-agent's title: its task, or, where that is encrypted, the name that its task was given. */
export function makeAgentTitle(task: string | undefined, path: string | undefined): string | undefined {
  const line = task?.split("\n").find((one) => one.trim() !== "");
  return line?.trim() ?? asString(path?.split("/").at(-1)?.replaceAll("_", " "));
}

/** So much of a task is kept for the title. */
const maxTaskChars = 2048;

/** What a sub-agent is given to do, in the first message that is for it. */
export const findTask = (messages: Message[]): string | undefined =>
  messages
    .find(({ role, metadata }) => role === "user" && metadata?.kind === undefined)
    ?.content.slice(0, maxTaskChars);
