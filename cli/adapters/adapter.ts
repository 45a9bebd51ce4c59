/** The machine that is searched for sessions; tests make one up. */
export type Host = {
  home: string;
  cwd: string;
  /** A `~` at the beginning of a value is already replaced by the home folder. */
  env: Record<string, string | undefined>;
  platform: NodeJS.Platform;
};

export type SearchRoot = {
  path: string;
  /** The environment variable that names the folder. */
  variable?: string;
};

/** A file, or another unit that an adapter parses in one go. */
export type Input = {
  /** The path of a file, or another name that is unique within the adapter. Never sent as telemetry. */
  path: string;
  bytes: number;
  /** In milliseconds since 1970. */
  modifiedAt: number;
  /** Changes whenever the content may have changed. */
  stamp: string;
  /** This Node can't read the input, which is reported once; a newer one gives it another stamp. */
  needsNewerNode?: boolean;
  /** Nobody writes to the input any more, so that an incomplete last line is an error. */
  isComplete?: boolean;
  /** Tells whether the server has a session of this agent, even if its file is gone. */
  isStored?(sourceId: string): boolean;
  /** Returns the version of the adapter that read a session when it was sent, if that is known. */
  sentVersion?(sourceId: string): number | undefined;
  /** The adapter continues where an earlier reading ended. */
  from?: Resumption;
};

/** A position in a file of lines, and the adapter's state there as JSON. */
export type Checkpoint = { offset: number; line: number; state: Record<string, unknown> };

/** A checkpoint, and the number of messages of the session before it. */
export type Resumption = Checkpoint & { messages: number };

/** A message as `POST /api/ingest` takes it; docs/trace-format.md describes its metadata. */
export type Message = {
  /** By default the number of messages before it. */
  position?: number;
  role?: string;
  content: string;
  /** The tokens that this message added; only the first of several messages with one reported usage has them. */
  tokenCount?: number;
  /** ISO 8601 with an offset or Z. */
  createdAt?: string;
  metadata?: Record<string, unknown>;
};

/** The fields of a session, known once all of it is read. Other fields are sent unchanged. */
export type SessionDetails = {
  model?: string;
  title?: string;
  project?: string;
  createdAt?: string;
  metadata?: Record<string, unknown>;
  [field: string]: unknown;
};

/** Receives what an adapter parses. Adapters count every entry (a line or list item) and what became of it. */
export interface Sink {
  /**
   * Begins a session; the one before it must have ended or been rejected.
   *
   * @param messages the number of its messages before the checkpoint at which the reading began
   */
  begin(source: string, sourceId: string, messages?: number): void;
  message(message: Message): void;
  end(details: SessionDetails): void;
  /** Leaves out the current session, for a reason that is shown to the user. */
  reject(reason: string): void;
  /** Reports a part that can't be read, for a reason that is shown to the user; the rest is sent. */
  lost(reason: string): void;
  /**
   * Names the session's folder as soon as it is known: if its project is left out, this throws, and the reading ends.
   */
  folder(path: string): void;
  /** Counts an entry. @param line its number, from 1 */
  entry(line?: number): void;
  /** Counts the entry as one that belongs to no message, on purpose. */
  skipped(): void;
  /** Counts the entry as one that is not in the expected format. @param reason in a few words */
  invalid(reason?: string): void;
  /** Counts an entry, or a part of one, whose type is unknown. The type is sent as telemetry. */
  unhandled(type: string): void;
  /** Notes where this reading ended, once all messages before were sent. Only for an input with one session. */
  checkpoint(at: Checkpoint): void;
  /** Set if checkpoints would be dropped, so that adapters need not make any. */
  readonly ignoresCheckpoints?: boolean;
  /** Must be awaited regularly, for example after each chunk of a file, so that uploads can proceed. */
  pause(): Promise<void>;
}

/** Reads the sessions of one agent. Adapters are listed in adapters/registry.ts. */
export interface Adapter {
  /** The `source` of the sessions. */
  readonly name: string;
  /** The agent's name for people. */
  readonly title: string;
  /** Must be raised when the same file yields other sessions than before: every file is then parsed and sent again. */
  readonly version: number;
  /** The sessions name their source themselves. */
  readonly holdsAnySource?: boolean;
  /** Returns the folders that are searched, including those that do not exist. */
  searchRoots(host: Host): SearchRoot[];
  /** Finds every input, in any order; none if a folder is missing. */
  discover(host: Host): AsyncIterable<Input>;
  /**
   * Parses one input in bounded memory. Unknown content is counted, never guessed; an incomplete last line is left for
   * the next run.
   *
   * @throws if the input can't be read
   */
  parse(input: Input, sink: Sink): Promise<void>;
}
