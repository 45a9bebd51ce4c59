import { join } from "node:path";
import { listFolder } from "../files/discovery.ts";
import type { Host } from "./adapter.ts";
import { getEditorFolders, getProgramFolder } from "./search-roots.ts";
import { traeEditors } from "./trae/editor.ts";

type UnreadableAgent = {
  name: string;
  title: string;
  folders(host: Host): string[];
  why: string;
};

const agents: readonly UnreadableAgent[] = [
  {
    name: "windsurf",
    title: "Windsurf",
    folders: ({ home }) => [".codeium/windsurf/cascade", ".codeium/windsurf-next/cascade"].map((at) => join(home, at)),
    why: "it encrypts them",
  },
  {
    name: "trae-editor",
    title: "Trae's editor",
    folders: (host) => traeEditors.map((name) => join(getProgramFolder(host), name, "ModularData", "ai-agent")),
    why: "it encrypts them",
  },
  {
    name: "augment",
    title: "Augment",
    folders: (host) => getEditorFolders(host, "globalStorage", "augment.vscode-augment").map(({ path }) => path),
    why: "their format is not documented",
  },
  {
    name: "antigravity",
    title: "Antigravity",
    folders: ({ home }) =>
      ["antigravity", "antigravity-ide"].map((name) => join(home, ".gemini", name, "conversations")),
    why: "they are encrypted; only those with a transcript are read",
  },
];

export type Unreadable = { name: string; title: string; path: string; why: string };

export async function findUnreadable(host: Host): Promise<Unreadable[]> {
  const found: Unreadable[] = [];
  for (const { name, title, folders, why } of agents) {
    for (const path of folders(host)) {
      if ((await listFolder(path)).length > 0) found.push({ name, title, path, why });
    }
  }
  return found;
}
