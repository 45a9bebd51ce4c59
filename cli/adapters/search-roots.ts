import { dirname, join, parse } from "node:path";
import type { Host, SearchRoot } from "./adapter.ts";

/** @param folder in the home folder, if the variable names none */
export function getHomeRoot({ home, env }: Host, variable: string, folder: string, ...below: string[]): SearchRoot {
  const named = env[variable];
  return named ? { path: join(named, ...below), variable } : { path: join(home, folder, ...below) };
}

/** XDG Base Directory Specification, on every system. */
export const getDataRoot = (host: Host, ...below: string[]): SearchRoot =>
  getHomeRoot(host, "XDG_DATA_HOME", ".local/share", ...below);

export function getLocalDataRoot(host: Host, ...below: string[]): SearchRoot {
  const { home, env, platform } = host;
  if (platform === "darwin") return { path: join(home, "Library", "Application Support", ...below) };
  if (platform === "win32") return { path: join(env.LOCALAPPDATA || join(home, "AppData", "Local"), ...below) };
  return getDataRoot(host, ...below);
}

export function getProgramFolder({ home, env, platform }: Host): string {
  if (platform === "darwin") return join(home, "Library", "Application Support");
  if (platform === "win32") return env.APPDATA || join(home, "AppData", "Roaming");
  return env.XDG_CONFIG_HOME || join(home, ".config");
}

/** @returns the folder itself first, up to the home folder or a root */
export function listFoldersAbove({ cwd, home }: Pick<Host, "cwd" | "home">): string[] {
  const folders = [cwd];
  for (let folder = cwd; folder !== home && folder !== parse(folder).root; folder = dirname(folder))
    folders.push(dirname(folder));
  return folders;
}

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

export function getEditorFolders(host: Host, ...below: string[]): SearchRoot[] {
  const { home, env } = host;
  const programs = getProgramFolder(host);
  const portable = env.VSCODE_PORTABLE;
  return [
    ...(portable ? [{ path: join(portable, "user-data", "User", ...below), variable: "VSCODE_PORTABLE" }] : []),
    ...editors.map((name) => ({ path: join(programs, name, "User", ...below) })),
    ...servers.map((name) => ({ path: join(home, name, "User", ...below) })),
    { path: getDataRoot(host, "code-server", "User", ...below).path },
  ];
}
