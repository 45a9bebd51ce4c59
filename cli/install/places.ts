import { realpathSync } from "node:fs";
import { access, constants, realpath } from "node:fs/promises";
import { delimiter, dirname, isAbsolute, join, resolve } from "node:path";
import type { Host } from "../adapters/adapter.ts";
import { running } from "../program.ts";

export type Places = {
  dataFolder: string;
  /** `program.ts` recognizes an installed client by this name. */
  client: string;
  /** The folder that has to be on the PATH, and the command in it. */
  binFolder: string;
  launcher: string;
  manifest: string;
};

export function getPlaces({ home, env, platform }: Host): Places {
  const isWindows = platform === "win32";
  const dataFolder = isWindows
    ? join(env.LOCALAPPDATA || join(home, "AppData", "Local"), "spoor")
    : join(env.XDG_DATA_HOME || join(home, ".local", "share"), "spoor");
  const binFolder = isWindows ? join(dataFolder, "bin") : join(home, ".local", "bin");
  return {
    dataFolder,
    client: join(dataFolder, "client.mjs"),
    binFolder,
    launcher: join(binFolder, isWindows ? "spoor.cmd" : "spoor"),
    manifest: join(dataFolder, "install.json"),
  };
}

const readPath = ({ env }: Host): string[] => (env.PATH ?? env.Path ?? "").split(delimiter).filter(isAbsolute);

export const isOnPath = (host: Host, folder: string): boolean =>
  readPath(host).some((one) => resolve(one) === resolve(folder));

/** Temporary folders of version managers and `npx`. */
const isPassing = (path: string): boolean => /^\/(?:tmp|run|var\/folders)\/|fnm_multishells|[\\/]_npx[\\/]/.test(path);

/** A link on the PATH survives updates, because Homebrew names Node's folder after the version. */
export async function findNode(host: Host, executable = process.execPath): Promise<string> {
  const target = await realpath(executable).catch(() => executable);
  for (const folder of readPath(host)) {
    const path = join(folder, host.platform === "win32" ? "node.exe" : "node");
    if (isPassing(path) || isBelow(path, "node_modules")) continue;
    const leads = await access(path, constants.X_OK)
      .then(() => realpath(path))
      .catch(() => undefined);
    if (leads === target) return path;
  }
  return executable;
}

const isBelow = (path: string, folder: string): boolean => dirname(path).split(/[\\/]/).includes(folder);

/** Resolves the running program's path, because npm links its commands. */
export function getRunningFile(): string {
  try {
    return realpathSync(running.file);
  } catch {
    return running.file;
  }
}

/** npm replaces and removes files in its packages by itself. */
export const isNpmFile = (path: string): boolean => path.split(/[\\/]/).includes("node_modules");
