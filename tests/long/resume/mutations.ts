// Changes a session's files in ways that must be noticed.
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { secret } from "../agents/scenes.ts";
import type { Resumable } from "./agents.ts";

type Place = { home: string; from: string; to: string };
/** @returns whether it found something to change */
type Mutation = (agent: Resumable, place: Place) => Promise<boolean>;

/** Files with the conversation's lines; a sub-agent's are no part of the main one's requests. */
async function listFiles({ folders }: Resumable, home: string): Promise<string[]> {
  const found = [];
  for (const folder of folders) {
    for (const name of await readdir(join(home, folder), { recursive: true })) {
      const path = join(home, folder, name);
      if (/\.jsonl?$/.test(name) && (await stat(path)).isFile()) found.push(path);
    }
  }
  return found;
}

const isSubAgent = (path: string): boolean => path.includes("/subagents/");

async function change(paths: string[], edit: (text: string) => string): Promise<boolean> {
  let isChanged = false;
  for (const path of paths) {
    const before = (await readFile(path)).toString("latin1");
    const after = edit(before);
    if (after === before) continue;
    await writeFile(path, Buffer.from(after, "latin1"));
    isChanged = true;
  }
  return isChanged;
}

const inMain = async (agent: Resumable, home: string, edit: (text: string) => string) =>
  change(
    (await listFiles(agent, home)).filter((path) => !isSubAgent(path)),
    edit,
  );

/** Gemini CLI writes older ones again; Claude Code also notes what it asked. */
const result = /^(?!\{"type":"api-request).*"(?:tool_result|\w*tool_call_output|functionResponse)"/;

export const mutations: Record<string, Mutation> = {
  "a path changed inside": (agent, { home, from, to }) => inMain(agent, home, (text) => text.replaceAll(from, to)),
  "a masked secret": (agent, { home }) =>
    inMain(agent, home, (text) => text.replaceAll(secret, "[redacted:github:1f0c22ab]")),
  "a dropped line": (agent, { home }) =>
    inMain(agent, home, (text) => {
      const lines = text.split("\n");
      const isResult = (line: string) => result.test(line);
      const at = agent.folder === "gemini" ? lines.findLastIndex(isResult) : lines.findIndex(isResult);
      return lines.filter((_, index) => index !== at).join("\n");
    }),
  "a reordered sub-agent": async (agent, { home }) =>
    change((await listFiles(agent, home)).filter(isSubAgent), (text) => {
      const [first = "", second = "", ...others] = text.split("\n");
      return [second, first, ...others].join("\n");
    }),
};
