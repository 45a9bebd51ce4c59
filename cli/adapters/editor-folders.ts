import { join } from "node:path";
import type { Host, SearchRoot } from "./adapter.ts";

/** Visual Studio Code and the editors that are built from it, by the names of their folders. */
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

/** Folders of the parts of such editors that run on a machine to which another one connects. */
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

/** Where desktop programs keep their settings. */
export function programFolder({ home, env, platform }: Host): string {
  if (platform === "darwin") return join(home, "Library", "Application Support");
  if (platform === "win32") return env.APPDATA || join(home, "AppData", "Roaming");
  return env.XDG_CONFIG_HOME || join(home, ".config");
}

/** The `User` folders of Visual Studio Code and its relatives, on the desktop and as servers, or folders below them. */
export function editorFolders(host: Host, ...below: string[]): SearchRoot[] {
  const { home, env } = host;
  const programs = programFolder(host);
  const portable = env.VSCODE_PORTABLE;
  const data = env.XDG_DATA_HOME || join(home, ".local", "share");
  return [
    ...(portable ? [{ path: join(portable, "user-data", "User", ...below), variable: "VSCODE_PORTABLE" }] : []),
    ...editors.map((name) => ({ path: join(programs, name, "User", ...below) })),
    ...servers.map((name) => ({ path: join(home, name, "User", ...below) })),
    { path: join(data, "code-server", "User", ...below) },
  ];
}
