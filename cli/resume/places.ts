// Maps a copy's paths to another project folder for each agent.
import { createHash } from "node:crypto";
import { lstat, realpath } from "node:fs/promises";
import { join } from "node:path";
import { escapePattern } from "../../common/escape-pattern.ts";
import { asFields } from "../adapters/values.ts";
import { CommandError } from "../errors.ts";
import { listFolder } from "../files/discovery.ts";
import { readJsonFile } from "../files/state-files.ts";

export type Places = {
  /** Returns true for paths that a session's files can have. */
  isExpected(path: string): boolean;
  /** Returns the path to restore to. */
  move(path: string): string;
};

const maxNameLength = 200;

/** Must match Claude Code's naming. */
export function nameClaudeProject(folder: string): string {
  const name = folder.replace(/[^a-zA-Z0-9]/g, "-");
  return name.length <= maxNameLength ? name : `${name.slice(0, maxNameLength)}-${hashClaude(folder)}`;
}

/** Java's 32-bit string hash. */
function hashClaude(text: string): string {
  let hash = 0;
  for (let at = 0; at < text.length; at++) hash = ((hash << 5) - hash + text.charCodeAt(at)) | 0;
  return Math.abs(hash).toString(36);
}

export async function placeClaude(home: string, id: string, folder: string): Promise<Places> {
  const session = escapePattern(id);
  const own = new RegExp(`^projects/[^/]+/${session}(?:\\.jsonl|/(?:subagents|tool-results)/.+)$`);
  const project = nameClaudeProject(await realpath(folder));
  const elsewhere = await findClaudeProjects(home, id);
  const used = elsewhere.length === 1 && !elsewhere.includes(project) ? (elsewhere[0] ?? project) : project;
  return {
    isExpected: (path) => own.test(path),
    move: (path) => path.replace(/^projects\/[^/]+\//, () => `projects/${used}/`),
  };
}

/** Claude Code finds a session in any project's folder, unless two have it. */
export async function findClaudeProjects(home: string, id: string): Promise<string[]> {
  const found: string[] = [];
  for (const { name } of await listFolder(join(home, "projects"))) {
    if (await lstat(join(home, "projects", name, `${id}.jsonl`)).catch(() => undefined)) found.push(name);
  }
  return found;
}

export function placeCodex(id: string): Places {
  const name = `rollout-[0-9T-]+-${escapePattern(id)}\\.jsonl(?:\\.zst)?`;
  const own = new RegExp(`^(?:archived_)?sessions/(?:\\d{2,4}/){0,3}${name}$`);
  return { isExpected: (path) => own.test(path), move: (path) => path };
}

/** Newer versions give a project a short name, older ones the hash of its path. */
export async function placeGemini(home: string, folder: string): Promise<Places> {
  const name = await nameGeminiProject(home, await realpath(folder));
  return {
    isExpected: (path) => /^tmp\/[^/]+\/chats\/(?:[\w-]+\/)?[\w-]+\.jsonl?$/.test(path),
    move: (path) => path.replace(/^tmp\/[^/]+\//, () => `tmp/${name}/`),
  };
}

async function nameGeminiProject(home: string, folder: string): Promise<string> {
  const { projects } = asFields(await readJsonFile(join(home, "projects.json")));
  const name = asFields(projects)[folder];
  if (name === undefined) return createHash("sha256").update(folder).digest("hex");
  if (typeof name === "string" && /^[\w.-]+$/.test(name) && !/^\.+$/.test(name)) return name;
  throw new CommandError("failed", `${join(home, "projects.json")} has no usable name for ${folder}.`);
}
