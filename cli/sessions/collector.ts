import { TrivialCheck } from "../../lib/evidence/trivial.ts";
import type { Checkpoint, Message, SessionDetails, Sink } from "../adapters/adapter.ts";
import { type Picture, takePictures, withReferences } from "../adapters/pictures.ts";
import { projectName } from "../adapters/values.ts";
import type { ProjectLabels } from "../projects/rules.ts";
import { findGitDir, findRepository } from "../projects/worktrees.ts";
import { Masker, type SecretCounts } from "../redact/masker.ts";
import type { Compressor } from "../sync/compression.ts";
import type { PictureBytes } from "./parse-stats.ts";
import {
  type KnownSession,
  getLabels,
  type PartLimits,
  type Session,
  type SessionLabels,
  type UnsentSession,
} from "./session.ts";
import { SessionWriter } from "./session-writer.ts";

type Handlers = {
  /**
   * Called when a session is complete.
   *
   * @param chars length of its texts
   * @param pictures sizes by hash
   */
  done(session: {
    messages: number;
    chars: number;
    labels: SessionLabels;
    secrets: SecretCounts;
    pictures: PictureBytes;
  }): void;
  /** Called for a session, or the rest of an input, of a left-out project. */
  leftOut(labels: ProjectLabels): void;
  left(left: UnsentSession): void;
  lost(reason: string, sourceId: string | undefined): void;
  entry(line: number | undefined): void;
  skipped(): void;
  invalid(reason: string | undefined): void;
  unhandled(type: string): void;
  pause(): Promise<void>;
};

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
  /** Called for a folder that is not left out, so that parts can be sent before the session ends. */
  onFolder?(cwd: string): void;
};

class ProjectLeftOut extends Error {}

/** Turns an adapter's events into sessions, in bounded memory. */
export class Collector implements Sink {
  readonly #handlers: Handlers;
  readonly #isLeftOut: (labels: ProjectLabels) => boolean;
  readonly #writing: Writing | undefined;
  #open:
    | {
        source: string;
        sourceId: string;
        messages: number;
        chars: number;
        trivial: TrivialCheck;
        masker: Masker;
        pictures: PictureBytes;
        writer: SessionWriter | undefined;
      }
    | undefined;
  hasEnded = false;

  constructor(handlers: Handlers, isLeftOut: (labels: ProjectLabels) => boolean, writing?: Writing) {
    this.#handlers = handlers;
    this.#isLeftOut = isLeftOut;
    this.#writing = writing;
  }

  folder(cwd: string): void {
    if (!this.#isLeftOut({ cwd })) {
      this.#writing?.onFolder?.(cwd);
      return;
    }
    this.hasEnded = true;
    this.#open = undefined;
    this.#handlers.leftOut({ cwd });
    throw new ProjectLeftOut(cwd);
  }

  begin(source: string, sourceId: string, messages = 0): void {
    if (this.hasEnded) return;
    const writing = this.#writing;
    const writer =
      writing &&
      new SessionWriter(source, sourceId, { ...writing, known: writing.known(source, sourceId) }, messages > 0);
    const [trivial, masker] = [new TrivialCheck(messages > 0), new Masker(writing?.maskKey)];
    this.#open = { source, sourceId, messages: 0, chars: 0, trivial, masker, pictures: {}, writer };
  }

  message(told: Message): void {
    if (!this.#open) return;
    const { message, references, pictures } = takePictures(told);
    this.#open.messages++;
    if (typeof message?.content === "string") this.#open.chars += message.content.length;
    this.#open.trivial.see(message);
    for (const { sha256, bytes } of references) this.#open.pictures[sha256] = bytes;
    const masked = this.#open.masker.message(message);
    // Hashes and media types are no secrets, even if they look like some.
    this.#open.writer?.add(withReferences(masked, references), pictures);
  }

  end(told: SessionDetails): void {
    const session = this.#open;
    this.#open = undefined;
    if (!session) return;
    const details = withRepository(told);
    const labels = getLabels(session.source, details);
    if (this.#isLeftOut(labels)) {
      this.#handlers.leftOut(labels);
      return;
    }
    const masked = session.masker.details(details);
    session.writer?.finish(session.trivial.isTrivial ? markTrivial(masked) : masked);
    if (session.writer?.hasChanged) this.#writing?.onChanged(session.source, session.sourceId);
    this.#handlers.done({ ...session, labels, secrets: session.masker.counts });
  }

  get ignoresCheckpoints(): boolean {
    return this.#writing?.onCheckpoint === undefined;
  }

  checkpoint(at: Checkpoint): void {
    // A session that may still get its first content is read whole next time.
    if (!this.hasEnded && this.#open?.trivial.isTrivial === false) this.#writing?.onCheckpoint?.(at);
  }

  reject(reason: string): void {
    if (this.#open) this.#handlers.left({ source: this.#open.source, sourceId: this.#open.sourceId, reason });
    this.#open = undefined;
  }

  lost(reason: string): void {
    this.#handlers.lost(reason, this.#open?.sourceId);
  }

  entry(line?: number): void {
    this.#handlers.entry(line);
  }

  skipped(): void {
    this.#handlers.skipped();
  }

  invalid(reason?: string): void {
    this.#handlers.invalid(reason);
  }

  unhandled(type: string): void {
    this.#handlers.unhandled(type);
  }

  pause(): Promise<void> {
    return this.#handlers.pause();
  }
}

/** Adds the Git folder of a worktree, unless the agent recorded the remote. */
function withRepository(details: SessionDetails): SessionDetails {
  const { cwd, repository } = details.metadata ?? {};
  const gitDir = typeof cwd === "string" && repository === undefined ? findGitDir(cwd) : undefined;
  if (gitDir === undefined || typeof cwd !== "string") return details;
  const project =
    details.project === projectName(cwd) ? projectName(findRepository(cwd)?.replace(/\.git$/, "")) : details.project;
  return { ...details, ...(project && { project }), metadata: { ...details.metadata, gitDir } };
}

/** Marks a session without content, unless it has a kind of its own (docs/trace-format.md). */
function markTrivial(details: SessionDetails): SessionDetails {
  const { metadata = {} } = details;
  const isOpen = typeof metadata === "object" && metadata !== null && metadata.kind === undefined;
  return isOpen ? { ...details, metadata: { ...metadata, kind: "trivial" } } : details;
}
