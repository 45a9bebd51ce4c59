import { TrivialCheck } from "../../common/evidence/trivial.ts";
import type { Checkpoint, Message, SessionDetails, Sink } from "../adapters/adapter.ts";
import { type Picture, takePictures, withReferences } from "../adapters/pictures.ts";
import { getProjectName } from "../adapters/values.ts";
import type { ProjectLabels } from "../projects/rules.ts";
import { findGitDir, findRepository } from "../projects/worktrees.ts";
import { addCounts, Masker, type SecretCounts } from "../redact/masker.ts";
import type { Compressor } from "../sync/compression.ts";
import type { AdapterInput, ParseOptions, ProjectPart } from "./inputs.ts";
import { countInvalid, countUnhandledType, emptyStats, type PictureBytes } from "./parse-stats.ts";
import { getLabels, type KnownSession, type PartLimits, type Session, type SessionLabels } from "./session.ts";
import { SessionWriter } from "./session-writer.ts";

/** Without it, sessions are only counted. */
export type Writing = {
  compressor: Compressor;
  limits: PartLimits;
  maskKey?: Buffer | undefined;
  known(source: string, sourceId: string): KnownSession;
  onPart(part: Session): void;
  onPicture?(picture: Picture, session: { source: string; sourceId: string }): void;
  /** Called for a session whose sent messages have changed, so that it must be read again. */
  onChanged(source: string, sourceId: string): void;
  onCheckpoint?(at: Checkpoint): void;
  /** No rule leaves this folder out, so parts can be sent before the session ends. */
  onFolder?(cwd: string): void;
};

class ProjectLeftOut extends Error {}

export class Collector implements Sink {
  readonly stats = emptyStats();
  readonly #input: AdapterInput;
  readonly #options: ParseOptions;
  readonly #writing: Writing | undefined;
  readonly #projects: ProjectParts;
  #line: number | undefined;
  #open:
    | {
        source: string;
        sourceId: string;
        messages: number;
        chars: number;
        trivial: TrivialCheck | undefined;
        masker: Masker;
        pictures: PictureBytes;
        writer: SessionWriter | undefined;
      }
    | undefined;
  hasEnded = false;

  constructor(input: AdapterInput, options: ParseOptions) {
    this.#input = input;
    this.#options = options;
    this.#writing = options.writing;
    this.#projects = new ProjectParts(input.bytes);
    this.stats.inputs = 1;
    this.stats.bytes = input.bytes;
  }

  listProjects(): ProjectPart[] {
    return this.#projects.list();
  }

  #isLeftOut(labels: ProjectLabels): boolean {
    return this.#options.isLeftOut?.(labels) === true;
  }

  folder(cwd: string): void {
    if (!this.#isLeftOut({ cwd })) {
      this.#writing?.onFolder?.(cwd);
      return;
    }
    this.hasEnded = true;
    this.#open = undefined;
    this.#projects.leaveOut({ source: this.#input.adapter.name, cwd });
    throw new ProjectLeftOut(cwd);
  }

  begin(source: string, sourceId: string, messages = 0): void {
    if (this.hasEnded) return;
    const writing = this.#writing;
    const writer =
      writing &&
      new SessionWriter(source, sourceId, { ...writing, known: writing.known(source, sourceId) }, messages > 0);
    const trivial = writing && new TrivialCheck(messages > 0);
    const masker = new Masker(writing?.maskKey);
    this.#open = { source, sourceId, messages: 0, chars: 0, trivial, masker, pictures: {}, writer };
  }

  message(given: Message): void {
    if (!this.#open) return;
    const { message, references, pictures } = takePictures(given);
    this.#open.messages++;
    if (typeof message?.content === "string") this.#open.chars += message.content.length;
    this.#open.trivial?.see(message);
    for (const { sha256, bytes } of references) this.#open.pictures[sha256] = bytes;
    const masked = this.#open.masker.message(message);
    // Hashes and media types are not secrets, even if they look like some.
    this.#open.writer?.add(withReferences(masked, references), pictures);
  }

  end(given: SessionDetails): void {
    const session = this.#open;
    this.#open = undefined;
    if (!session) return;
    const details = withRepository(given);
    const labels = getLabels(session.source, details);
    if (this.#isLeftOut(labels)) {
      this.#projects.leaveOut(labels);
      return;
    }
    const masked = session.masker.details(details);
    session.writer?.finish(session.trivial?.isTrivial ? markTrivial(masked) : masked);
    if (session.writer?.hasChanged) this.#writing?.onChanged(session.source, session.sourceId);
    this.stats.sessions++;
    this.stats.messages += session.messages;
    this.#projects.add(labels, { ...session, secrets: session.masker.counts });
  }

  get ignoresCheckpoints(): boolean {
    return this.#writing?.onCheckpoint === undefined;
  }

  checkpoint(at: Checkpoint): void {
    // A session that may still get its first content is read whole next time.
    if (!this.hasEnded && this.#open?.trivial?.isTrivial === false) this.#writing?.onCheckpoint?.(at);
  }

  reject(reason: string): void {
    if (this.#open) this.stats.left.push({ source: this.#open.source, sourceId: this.#open.sourceId, reason });
    this.#open = undefined;
  }

  lost(reason: string): void {
    const { adapter, path } = this.#input;
    this.stats.left.push({ source: adapter.name, sourceId: this.#open?.sourceId ?? path, reason });
  }

  entry(line?: number): void {
    this.stats.entries++;
    this.#line = line;
  }

  skipped(): void {
    this.stats.skipped++;
  }

  invalid(reason = "not in the expected format"): void {
    const place = this.#line === undefined ? "" : `:${this.#line}`;
    countInvalid(this.stats, () => `${this.#input.path}${place}: ${reason}`);
  }

  unhandled(type: string): void {
    countUnhandledType(this.stats, type);
  }

  async pause(): Promise<void> {
    await this.#options.pause?.();
  }
}

/** Adds the Git folder of a worktree, unless the agent recorded the remote. */
function withRepository(details: SessionDetails): SessionDetails {
  const { cwd, repository } = details.metadata ?? {};
  const gitDir = typeof cwd === "string" && repository === undefined ? findGitDir(cwd) : undefined;
  if (gitDir === undefined || typeof cwd !== "string") return details;
  const project =
    details.project === getProjectName(cwd)
      ? getProjectName(findRepository(cwd)?.replace(/\.git$/, ""))
      : details.project;
  return { ...details, ...(project && { project }), metadata: { ...details.metadata, gitDir } };
}

/** Marks a session without content, unless it already has a kind (docs/trace-format.md). */
function markTrivial(details: SessionDetails): SessionDetails {
  const { metadata = {} } = details;
  const isOpen = typeof metadata === "object" && metadata !== null && metadata.kind === undefined;
  return isOpen ? { ...details, metadata: { ...metadata, kind: "trivial" } } : details;
}

class ProjectParts {
  readonly #bytes: number;
  readonly #parts = new Map<string, ProjectPart & { chars: number }>();

  constructor(bytes: number) {
    this.#bytes = bytes;
  }

  add(
    { source, cwd, project }: SessionLabels,
    { chars, secrets, pictures }: { chars: number; secrets: SecretCounts; pictures: PictureBytes },
  ): void {
    const part = this.#getPart({ source, cwd, project }, false);
    addCounts(part.secrets, secrets);
    Object.assign(part.pictures, pictures);
    part.sessions++;
    part.chars += chars;
  }

  leaveOut({ source, cwd, project }: SessionLabels): void {
    this.#getPart({ source, cwd, project }, true).sessions++;
  }

  #getPart(labels: SessionLabels, isLeftOut: boolean) {
    const key = JSON.stringify([labels.source, labels.cwd, labels.project, isLeftOut]);
    const part = this.#parts.get(key) ?? {
      ...labels,
      sessions: 0,
      bytes: 0,
      chars: 0,
      secrets: {},
      pictures: {},
      isLeftOut,
    };
    this.#parts.set(key, part);
    return part;
  }

  list(): ProjectPart[] {
    const parts = [...this.#parts.values()];
    const chars = parts.reduce((sum, part) => sum + part.chars, 0);
    const share = (part: { chars: number }) => (chars > 0 ? part.chars / chars : 1 / parts.length);
    return parts.map(({ chars: length, ...part }) => ({
      ...part,
      bytes: Math.round(this.#bytes * share({ chars: length })),
    }));
  }
}
