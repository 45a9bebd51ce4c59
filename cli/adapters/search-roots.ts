// Finds the folders in which agents and other programs keep their files.
import { dirname, join, parse } from "node:path";
import type { Host, SearchRoot } from "./adapter.ts";

/** Returns the folder that a variable names, else one in the home folder, and what is below it. */
export function homeRoot({ home, env }: Host, variable: string, folder: string, ...below: string[]): SearchRoot {
  const named = env[variable];
  return named ? { path: join(named, ...below), variable } : { path: join(home, folder, ...below) };
}

/** Returns a folder of the user's data (XDG Base Directory Specification), on every system. */
export const dataRoot = (host: Host, ...below: string[]): SearchRoot =>
  homeRoot(host, "XDG_DATA_HOME", ".local/share", ...below);

/** Returns a folder of programs' data, as the system wants it. */
export function localDataRoot(host: Host, ...below: string[]): SearchRoot {
  const { home, env, platform } = host;
  if (platform === "darwin") return { path: join(home, "Library", "Application Support", ...below) };
  if (platform === "win32") return { path: join(env.LOCALAPPDATA || join(home, "AppData", "Local"), ...below) };
  return dataRoot(host, ...below);
}

/** Returns the folder in which desktop programs keep their settings. */
export function programFolder({ home, env, platform }: Host): string {
  if (platform === "darwin") return join(home, "Library", "Application Support");
  if (platform === "win32") return env.APPDATA || join(home, "AppData", "Roaming");
  return env.XDG_CONFIG_HOME || join(home, ".config");
}

/** Returns the current folder and those above it, up to the home folder. */
export function listFoldersAbove({ cwd, home }: Host): string[] {
  const folders = [cwd];
  for (let folder = cwd; folder !== home && folder !== parse(folder).root; folder = dirname(folder))
    folders.push(dirname(folder));
  return folders;
}

/** The folders of Visual Studio Code and the editors that are built from it. */
const editors = [
  "Code",
  "Code - Insiders",
  "Code - OSS",
  "VSCodium",
  "VSCodium - Insiders",
  "Cursor",
  "Windsurf",
  "Windsurf - Next",
  "Antigravity",
  "Kiro",
  "Positron",
  "Trae",
  "Void",
];

/** The folders of such editors on a machine to which another one connects. */
const servers = [
  ".vscode-server/data",
  ".vscode-server-insiders/data",
  ".vscode-server-oss/data",
  ".vscode-remote/data",
  ".vscodium-server/data",
  ".cursor-server/data",
  ".windsurf-server/data",
  ".openvscode-server/data",
];

/** Returns the `User` folders of Visual Studio Code and its relatives, on the desktop and as servers, or folders below them. */
export function editorFolders(host: Host, ...below: string[]): SearchRoot[] {
  const { home, env } = host;
  const programs = programFolder(host);
  const portable = env.VSCODE_PORTABLE;
  return [
    ...(portable ? [{ path: join(portable, "user-data", "User", ...below), variable: "VSCODE_PORTABLE" }] : []),
    ...editors.map((name) => ({ path: join(programs, name, "User", ...below) })),
    ...servers.map((name) => ({ path: join(home, name, "User", ...below) })),
    { path: dataRoot(host, "code-server", "User", ...below).path },
  ];
}
