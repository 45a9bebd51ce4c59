// Makes a fork that any account can continue: without thinking and encrypted reasoning.
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { realpath } from "node:fs/promises";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import zlib from "node:zlib";
import type { Host } from "../adapters/adapter.ts";
import { CommandError } from "../errors.ts";
import { supportsZstd } from "../files/byte-reader.ts";
import { formatCount } from "../terminal/format.ts";
import type { Agent } from "./agents.ts";
import { type ArchivedTrace, formatMissing, readConversation } from "./archived.ts";
import { type Cleaned, cleanClaude } from "./clean-claude.ts";
import { cleanCodex } from "./clean-codex.ts";
import type { Copy } from "./fetch-copy.ts";
import { checkPaths } from "./paths.ts";
import { nameClaudeProject, placeClaude, placeCodex } from "./places.ts";
import { rebuildClaude } from "./rebuild-claude.ts";
import { rebuildCodex } from "./rebuild-codex.ts";
import { type RestoredFile, restoreFiles } from "./restore-files.ts";

export type CleanSession = { id: string; files: RestoredFile[]; missing: string[] };

type Fork = { id: string; cwd: string; now: Date };

const maxCleanBytes = 500 * 1024 * 1024;

/** Versions to write if the installed one is unknown; each accepts a session in a single file. */
const oldVersions: Record<string, string> = { "claude-code": "2.1.0", "codex-cli": "0.100.0" };

export async function cleanFromArchive(
  host: Host,
  agent: Agent,
  trace: ArchivedTrace,
  version: string | undefined,
): Promise<CleanSession> {
  const fork = await makeFork(host, agent);
  const { items, missing } = readConversation(trace);
  if (items.length === 0) throw new CommandError("failed", "The archive has no conversation of this session.");
  const around = { ...fork, version: version ?? oldVersions[agent.source] ?? "1.0.0" };
  const rebuild = agent.source === "claude-code" ? rebuildClaude : rebuildCodex;
  const files = await write(host, agent, fork, rebuild(trace, items, around));
  return { id: fork.id, files, missing: formatMissing(missing) };
}

export async function cleanFromCopy(host: Host, agent: Agent, { head, readFile }: Copy): Promise<CleanSession> {
  const fork = await makeFork(host, agent);
  const { sourceId, files } = head;
  const places =
    agent.source === "claude-code" ? await placeClaude(host.home, sourceId, host.cwd) : placeCodex(sourceId);
  checkPaths(
    files.map(({ path }) => path),
    places.isExpected,
  );
  const main = files.find(({ path }) => /\.jsonl(?:\.zst)?$/.test(path) && !path.includes("/subagents/"));
  if (!main) throw new CommandError("failed", "The copy lacks the session's main file.");
  if (main.bytes > maxCleanBytes) throw tooLong();
  const bytes = await buffer(Readable.from(readFile(main)));
  if (createHash("sha256").update(bytes).digest("hex") !== main.sha256)
    throw new CommandError("failed", `The copy of ${main.path} is damaged. Nothing was restored.`);
  const text = main.path.endsWith(".zst") ? decompress(bytes) : bytes.toString();
  const cleaned = clean(agent, text, { ...fork, from: sourceId });
  const others = files.length - 1;
  const missing = [
    ...(cleaned.removed > 0 ? [`thoughts (${cleaned.removed})`] : []),
    ...(others > 0 ? [`${formatCount(others, "file")} of sub-agents and saved tool outputs`] : []),
  ];
  return { id: fork.id, files: await write(host, agent, fork, cleaned.text), missing };
}

function clean(agent: Agent, text: string, fork: Fork & { from: string }): Cleaned {
  return agent.source === "claude-code" ? cleanClaude(text, fork) : cleanCodex(text, fork);
}

function decompress(bytes: Buffer): string {
  if (!supportsZstd())
    throw new CommandError("failed", "The session is compressed with zstd, which needs Node 22.15 or later.");
  try {
    return zlib.zstdDecompressSync(bytes, { maxOutputLength: maxCleanBytes }).toString();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw tooLong();
    throw new CommandError("failed", `The session can't be decompressed: ${(error as Error).message}.`);
  }
}

const tooLong = (): CommandError => new CommandError("failed", "The session is too long to be cleaned.");

async function makeFork(host: Host, agent: Agent): Promise<Fork> {
  if (!(agent.source in oldVersions))
    throw new CommandError("usage", `--clean supports Claude Code and Codex, not ${agent.title}.`);
  const now = new Date();
  const id = agent.source === "codex-cli" ? makeTimedUuid(now) : randomUUID();
  return { id, cwd: await realpath(host.cwd), now };
}

/** UUID version 7 (RFC 9562), because Codex recognizes a fork's own turns by the times in their ids. */
function makeTimedUuid(now: Date): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(now.getTime(), 0, 6);
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

async function write(host: Host, agent: Agent, fork: Fork, text: string): Promise<RestoredFile[]> {
  const bytes = Buffer.from(text);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const path = agent.source === "claude-code" ? nameClaudeFile(fork) : nameRollout(fork);
  const file = { path, bytes: bytes.length, sha256, read: () => Readable.from([bytes]) };
  return restoreFiles(agent.getHome(host), [file]);
}

const nameClaudeFile = ({ id, cwd }: Fork): string => `projects/${nameClaudeProject(cwd)}/${id}.jsonl`;

/** Codex uses local time in names. */
function nameRollout({ id, now }: Fork): string {
  const local = new Date(now.getTime() - now.getTimezoneOffset() * 60_000).toISOString();
  const [day = "", time = ""] = local.slice(0, 19).split("T");
  return `sessions/${day.replaceAll("-", "/")}/rollout-${day}T${time.replaceAll(":", "-")}-${id}.jsonl`;
}
