import { createHash } from "node:crypto";
import { type FileHandle, open, readdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isSession } from "../adapters/claude-code/discovery.ts";
import { isHistory } from "../adapters/claude-code/ghosts.ts";
import { getSessionPath } from "../adapters/claude-code/identity.ts";
import { splitInputPath } from "../adapters/sqlite.ts";
import { isMissingOrForbidden } from "../files/discovery.ts";
import { listFamily, readExport } from "./opencode.ts";

export type OpenFile = {
  bytes: number;
  read(offset: number, length: number): Promise<Buffer>;
  close(): Promise<void>;
};

export type SourceFile = {
  /** Relative to the session's folder, with `/`. */
  name: string;
  bytes: number;
  modifiedAt: number;
  /** Changes if the content may have changed. */
  stamp: string;
  open(): Promise<OpenFile>;
};

export type SessionFiles = {
  home: string;
  /** The main file's folder, relative to `home`, with `/`. */
  folder: string;
  /** The main file is the first. */
  files: SourceFile[];
  /** The agent rewrites the whole file with each message. */
  isRewritten: boolean;
  readVersion(): Promise<string | undefined>;
};

type Agent = {
  /** @returns undefined if the input belongs to no session that can be copied */
  findMain(path: string): Promise<string | undefined>;
  gather(main: string): Promise<SessionFiles | undefined>;
};

const [maxDepth, maxFiles] = [8, 20_000];
const versionBytes = 64 * 1024;

const claudeCode: Agent = {
  async findMain(path) {
    if (isHistory(path)) return undefined;
    const main = getSessionPath(path) ?? path;
    const isMain = isSession(basename(main)) && !basename(main).startsWith("agent-");
    return isMain && basename(dirname(dirname(main))) === "projects" ? main : undefined;
  },
  async gather(main) {
    const first = await findFile(main, basename(main));
    if (!first) return undefined;
    const id = basename(main, ".jsonl");
    const others: SourceFile[] = [];
    for (const name of ["subagents", "tool-results"])
      await walk(join(dirname(main), id, name), `${id}/${name}`, others);
    const projects = dirname(dirname(main));
    return {
      home: dirname(projects),
      folder: `projects/${basename(dirname(main))}`,
      files: [first, ...others],
      isRewritten: false,
      readVersion: async () => findLast(await readEnd(main), /"version":"(\d[^"]{0,40})"/g),
    };
  },
};

const codex: Agent = {
  async findMain(path) {
    return splitCodexPath(path) && path;
  },
  async gather(main) {
    const [first, split] = [await findFile(main, basename(main)), splitCodexPath(main)];
    if (!first || !split) return undefined;
    const readVersion = async () =>
      main.endsWith(".zst") ? undefined : findLast(await readStart(main), /"cli_version":"(\d[^"]{0,40})"/g);
    return { ...split, files: [first], isRewritten: false, readVersion };
  },
};

function splitCodexPath(path: string): { home: string; folder: string } | undefined {
  const [, home, folder] = /^(.*)[\\/]((?:archived_)?sessions(?:[\\/].*)?)[\\/][^\\/]+$/.exec(path) ?? [];
  return home === undefined || folder === undefined ? undefined : { home, folder: folder.replaceAll("\\", "/") };
}

const gemini: Agent = {
  async findMain(path) {
    const folder = dirname(path);
    if (basename(folder) === "chats") return path;
    if (basename(dirname(folder)) !== "chats") return undefined;
    const ending = new RegExp(`-${basename(folder).slice(0, 8)}\\.jsonl?$`);
    const names = (await list(dirname(folder))).filter((entry) => ending.test(entry.name)).map(({ name }) => name);
    const [main] = names.sort();
    return main && join(dirname(folder), main);
  },
  async gather(main) {
    const first = await findFile(main, basename(main));
    if (!first) return undefined;
    const chats = dirname(main);
    const others: SourceFile[] = [];
    const [, beginning = "?"] = /-([0-9a-f]{8})\.jsonl?$/.exec(main) ?? [];
    for (const { name } of (await list(chats)).filter((entry) => entry.isDirectory())) {
      if (name.startsWith(beginning)) await walk(join(chats, name), name, others);
    }
    const project = dirname(chats);
    return {
      home: dirname(dirname(project)),
      folder: `tmp/${basename(project)}/chats`,
      files: [first, ...others],
      isRewritten: main.endsWith(".json"),
      readVersion: async () => undefined,
    };
  },
};

/** A session and its sub-agents are one copy. */
const opencode: Agent = {
  async findMain(path) {
    const { database, id } = splitInputPath(path);
    const [main] = id === undefined ? [] : await listFamily(database, id);
    return main?.path;
  },
  async gather(main) {
    const { database, id = "" } = splitInputPath(main);
    const family = await listFamily(database, id);
    const [first] = family;
    if (first?.id !== id) return undefined;
    return {
      home: dirname(database),
      folder: "export",
      files: family.map((one) => ({
        name: `${one.id}.json`,
        bytes: one.bytes,
        modifiedAt: one.modifiedAt,
        stamp: createHash("sha256").update(one.stamp).digest("base64url").slice(0, 22),
        open: async () => openBytes(await readExport(database, one.id)),
      })),
      isRewritten: true,
      readVersion: async () => first.version,
    };
  },
};

export const agents: Readonly<Record<string, Agent>> = {
  "claude-code": claudeCode,
  "codex-cli": codex,
  "gemini-cli": gemini,
  opencode,
};

/** Links are not followed, because their targets may not belong to the session. */
async function walk(folder: string, name: string, found: SourceFile[], depth = 0): Promise<void> {
  for (const entry of (await list(folder)).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (found.length >= maxFiles) return;
    const [path, below] = [join(folder, entry.name), `${name}/${entry.name}`];
    if (entry.isDirectory() && depth < maxDepth) await walk(path, below, found, depth + 1);
    const file = entry.isFile() && !/[\\:]/.test(entry.name) && (await findFile(path, below));
    if (file) found.push(file);
  }
}

async function list(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (isMissingOrForbidden(error)) return [];
    throw error;
  }
}

async function findFile(path: string, name: string): Promise<SourceFile | undefined> {
  try {
    const { size, mtimeMs, ino } = await stat(path);
    const stamp = `${size}:${mtimeMs}:${ino}`;
    return { name, bytes: size, modifiedAt: mtimeMs, stamp, open: () => openFile(path) };
  } catch (error) {
    if (isMissingOrForbidden(error)) return undefined;
    throw error;
  }
}

async function openFile(path: string): Promise<OpenFile> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    return { bytes: size, read: (offset, length) => readAt(file, offset, length), close: () => file.close() };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function readAt(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(buffer, filled, length - filled, offset + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

const openBytes = (bytes: Buffer): OpenFile => ({
  bytes: bytes.length,
  read: async (offset, length) => bytes.subarray(offset, offset + length),
  close: async () => {},
});

async function readEnd(path: string): Promise<string> {
  return readText(path, (bytes) => Math.max(0, bytes - versionBytes));
}

const readStart = (path: string): Promise<string> => readText(path, () => 0);

async function readText(path: string, from: (bytes: number) => number): Promise<string> {
  const file = await openFile(path);
  try {
    return (await file.read(from(file.bytes), versionBytes)).toString("latin1");
  } finally {
    await file.close();
  }
}

const findLast = (text: string, pattern: RegExp): string | undefined => [...text.matchAll(pattern)].at(-1)?.[1];
