// Installs an agent from the registry into a folder of its own, so that no agent's packages meet another's.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { type Agent, getVersion } from "./agents.ts";

/** Agents need the Node that runs this: it is first on their path. */
export const path = [dirname(process.execPath), process.env.PATH].join(":");

/** @returns the command's path, or why the agent can't be run */
export async function install(agent: Agent, folder: string): Promise<{ command: string } | { reason: string }> {
  const place = join(folder, agent.folder);
  const command = join(place, "node_modules/.bin", agent.command);
  const wanted = `${agent.package}@${getVersion(agent)}`;
  if (await isThere(agent, place)) return { command };
  await mkdir(place, { recursive: true });
  const words = ["install", "--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"];
  try {
    await promisify(execFile)("npm", [...words, "--prefix", place, wanted], {
      env: { ...process.env, PATH: path },
      timeout: 600_000,
    });
  } catch (error) {
    return { reason: String((error as { stderr?: string }).stderr || error).slice(-500) };
  }
  return existsSync(command) ? { command } : { reason: `${wanted} has no command ${agent.command}` };
}

async function isThere(agent: Agent, place: string): Promise<boolean> {
  const file = join(place, "node_modules", agent.package, "package.json");
  if (!existsSync(file) || !existsSync(join(place, "node_modules/.bin", agent.command))) return false;
  return (JSON.parse(await readFile(file, "utf8")) as { version: string }).version === getVersion(agent);
}
