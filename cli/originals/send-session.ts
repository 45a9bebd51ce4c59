import type { Host } from "../adapters/adapter.ts";
import { CommandError } from "../errors.ts";
import { foldHome } from "../projects/rules.ts";
import { type Api, HttpError } from "../server/api.ts";
import type { SessionLabels } from "../sessions/session.ts";
import { adoptOriginal, type Refusal } from "./adopt.ts";
import { getOriginal, type Manifest, putOriginal, putPart, type StoredOriginal } from "./client.ts";
import type { SessionFiles } from "./collect.ts";
import type { CopyState, CopyStates, KnownFile } from "./copy-states.ts";
import { countKeptParts, sendFile } from "./file-parts.ts";
import { encodeHead, encodePart, type HeadPart } from "./format.ts";
import { readGit } from "./git.ts";

export type LocalSession = {
  /** The main file's path. */
  path: string;
  key: string;
  source: string;
  sourceId: string;
  labels: SessionLabels;
  found: SessionFiles;
};

/** `secret` is undefined on a machine that can only add copies. */
export type Keys = { recipient: string; secret: string | undefined };

export type Refused = { refusal: Refusal; machine: string };

export type CopyTarget = { host: Host; api: Api; states: CopyStates; machine: string; device: string; keys: Keys };

const maxTries = 4;
const [maxHeadBytes, maxParts] = [1024 * 1024, 20_000];

export const joinStamps = ({ files }: SessionFiles): string =>
  files.map(({ name, stamp }) => `${name} ${stamp}`).join("\n");

/** The server has every byte, and small parts are merged. */
export function isComplete({ version, files }: CopyState, found: SessionFiles, now = Date.now()): boolean {
  const known = new Map(files.map((file) => [file.name, file]));
  return version !== undefined && found.files.every((file) => isSent(file, known.get(file.name), now));
}

const isSent = (file: SessionFiles["files"][number], known: KnownFile | undefined, now: number): known is KnownFile =>
  known?.stamp === file.stamp && countKeptParts(known.parts, file.modifiedAt, now) === known.parts.length;

/**
 * Sends missing parts before the manifest, so that the stored copy is always complete.
 *
 * @param force replaces another machine's copy
 * @returns the reason if another machine's copy is kept
 */
export async function sendSession(
  session: LocalSession,
  target: CopyTarget,
  { state, force, onBytes }: { state: CopyState | undefined; force: boolean; onBytes: (bytes: number) => void },
): Promise<"sent" | "deleted" | Refused> {
  const { recipient } = target.keys;
  const sending = new SessionSending(session, target, onBytes);
  let known: CopyState = state ?? { recipient, version: undefined, files: [] };
  for (let attempt = 0; attempt < maxTries; attempt++) {
    if (known.version === undefined) {
      const adopted = await sending.adopt(known, force);
      if ("refusal" in adopted) return adopted;
      known = adopted;
    }
    const files = await sending.sendFiles(known);
    const outcome = await sending.finish(files, known.version);
    if (outcome === "deleted") return outcome;
    if (outcome === "changed") known = { ...known, version: undefined, files };
    else if ("version" in outcome) {
      await target.states.write(session.key, { recipient, version: outcome.version, files, sentAt: Date.now() });
      return "sent";
    } else known = { ...known, files: withoutMissing(files, new Set(outcome.missing)) };
  }
  throw new CommandError("failed", `The exact copy of ${session.sourceId} kept changing on the server.`);
}

/** The server deletes parts that no manifest has listed for a day. The main file stays first. */
const withoutMissing = (files: KnownFile[], missing: ReadonlySet<string>): KnownFile[] =>
  files.flatMap((file, at) => {
    if (!file.parts.some(({ sha256 }) => missing.has(sha256))) return [file];
    return at === 0 ? [{ ...file, bytes: 0, sha256: "", stamp: "", parts: [] }] : [];
  });

class SessionSending {
  readonly #session: LocalSession;
  readonly #target: CopyTarget;
  readonly #onBytes: (bytes: number) => void;

  constructor(session: LocalSession, target: CopyTarget, onBytes: (bytes: number) => void) {
    this.#session = session;
    this.#target = target;
    this.#onBytes = onBytes;
  }

  async adopt(known: CopyState, force: boolean): Promise<CopyState | Refused> {
    const { source, sourceId, found } = this.#session;
    const { api, keys, machine, device } = this.#target;
    const remote = await getOriginal(api, source, sourceId);
    if (!remote) return known;
    // This client stored it, but the response was lost.
    if (isOwn(remote, known)) return { ...known, version: remote.version };
    const adopted = await adoptOriginal(remote, found, { ...keys, api, machine, device }).catch((error) => {
      if (force && error instanceof CommandError && error.kind === "failed") return "unreadable" as const;
      throw error;
    });
    if (typeof adopted !== "string") return adopted;
    return force
      ? { recipient: keys.recipient, version: remote.version, files: [] }
      : { refusal: adopted, machine: remote.machine };
  }

  async sendFiles(known: CopyState): Promise<KnownFile[]> {
    const { files } = this.#session.found;
    const now = Date.now();
    const names = new Set(files.map(({ name }) => name));
    // Files that the agent has deleted stay in the copy.
    const [main, ...others] = known.files;
    const gone = (main?.name === files[0]?.name ? others : []).filter(({ name }) => !names.has(name));
    const sent: KnownFile[] = [];
    for (const file of files) {
      const before = known.files.find(({ name }) => name === file.name);
      const save = async (part: KnownFile) => {
        const rest = known.files.filter(({ name }) => name !== file.name && !sent.some((one) => one.name === name));
        await this.#target.states.write(this.#session.key, { ...known, files: [...sent, part, ...rest] });
      };
      if (isSent(file, before, now)) sent.push(before);
      else sent.push(await sendFile(file, before, { now, put: (plain) => this.#putPart(plain), onProgress: save }));
    }
    return [...sent, ...gone];
  }

  async #putPart(plain: Buffer): Promise<HeadPart> {
    const { api, keys } = this.#target;
    const { sha256, bytes } = await encodePart(plain, keys.recipient);
    await putPart(api, sha256, bytes);
    this.#onBytes(bytes.length);
    return { sha256, bytes: plain.length };
  }

  async finish(files: KnownFile[], version: string | undefined) {
    const { api } = this.#target;
    const manifest = await this.#makeManifest(files);
    try {
      const outcome = await putOriginal(api, this.#session, manifest, version);
      this.#onBytes(Math.ceil(manifest.head.length / 3) * 4 + 67 * manifest.parts.length);
      return outcome;
    } catch (error) {
      if (error instanceof HttpError && error.status === 410) return "deleted";
      throw error;
    }
  }

  async #makeManifest(files: KnownFile[]): Promise<Manifest> {
    const { source, sourceId, labels, found } = this.#session;
    const { host, keys, machine, device } = this.#target;
    const { cwd } = labels;
    const head = await encodeHead(
      {
        format: 1,
        agent: source,
        agentVersion: (await found.readVersion()) ?? null,
        sourceId,
        machine,
        device,
        home: foldHome(found.home, host),
        cwd: cwd ?? null,
        git: cwd === undefined ? null : readGit(cwd),
        writtenAt: new Date().toISOString(),
        files: files.map(({ name, bytes, sha256, modifiedAt, parts }) => ({
          path: `${found.folder}/${name}`,
          bytes,
          sha256,
          modifiedAt: new Date(modifiedAt).toISOString(),
          parts,
        })),
      },
      keys.recipient,
    );
    const parts = files.flatMap((file) => file.parts.map(({ sha256 }) => sha256));
    if (head.length > maxHeadBytes || parts.length > maxParts)
      throw new Error("the session has too many files or parts");
    const plainBytes = files.reduce((sum, { bytes }) => sum + bytes, 0);
    return { recipient: keys.recipient, files: files.length, plainBytes, head, parts };
  }
}

function isOwn(remote: StoredOriginal, { files }: CopyState): boolean {
  const own = files.flatMap(({ parts }) => parts.map(({ sha256 }) => sha256));
  return own.length > 0 && own.length === remote.parts.length && own.every((one, at) => remote.parts[at] === one);
}
