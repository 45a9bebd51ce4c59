/** The machine that is searched for sessions. Tests make one up. */
export type Host = {
  /** The home folder. */
  home: string;
  /** The current folder. */
  cwd: string;
  /** A `~` at the beginning of a value is the home folder already. */
  env: Record<string, string | undefined>;
  platform: NodeJS.Platform;
};

/** A folder that an adapter searches. */
export type SearchRoot = {
  path: string;
  /** The environment variable that it comes from. */
  variable?: string;
};

/** A file, or another unit that an adapter parses in one go. */
export type Input = {
  /** Its name within the adapter; the path of a file. Never sent as telemetry. */
  path: string;
  bytes: number;
  /** The time of its last change, in milliseconds since 1970. */
  modifiedAt: number;
  /** Changes whenever its content may have changed. */
  stamp: string;
  /** Whether this Node can't read it: that is told once. A newer one gives it another stamp. */
  needsNewerNode?: boolean;
  /** Whether nobody writes to it any more, so that an incomplete last line is an error. */
  isComplete?: boolean;
  /** Tells whether the server has a session of this agent, also one whose file is gone. */
  isStored?(sourceId: string): boolean;
  /** The version of the adapter that read a session of this agent when it was sent; undefined where that is not known. */
  sentVersion?(sourceId: string): number | undefined;
  /** Where an earlier reading ended; the adapter continues there. */
  from?: Resumption;
};

/** A place in a file of lines, and what the adapter knew there, as JSON. */
export type Checkpoint = { offset: number; line: number; state: Record<string, unknown> };

/** A checkpoint, and the number of messages of its session before it. */
export type Resumption = Checkpoint & { messages: number };

/** A message as `POST /api/ingest` takes it; docs/trace-format.md describes its metadata. */
export type Message = {
  /** Its position in the session; by default the number of messages before it. */
  position?: number;
  role?: string;
  content: string;
  /** The tokens that this message added; of several messages that share one reported usage, only the first has it. */
  tokenCount?: number;
  /** ISO 8601 with an offset or Z. */
  createdAt?: string;
  metadata?: Record<string, unknown>;
};

/** A session's own fields, known once all of it is read. Other fields are sent unchanged. */
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
   * @param messages how many of its messages were read before, where its input is read from a checkpoint on
   */
  begin(source: string, sourceId: string, messages?: number): void;
  message(message: Message): void;
  /** Completes the session. */
  end(details: SessionDetails): void;
  /** Leaves out the current session, for a reason that is shown to the user. */
  reject(reason: string): void;
  /** Reports a part of the session or input that can't be read, for a reason that is shown to the user; the rest is sent. */
  lost(reason: string): void;
  /**
   * Names the folder in which the session was held, as soon as it is known, before more is read: where its project is left out,
   * this throws, and the reading ends there.
   */
  folder(path: string): void;
  /** Counts an entry. @param line its number, from 1 */
  entry(line?: number): void;
  /** Counts the entry as one that belongs to no message, on purpose. */
  skipped(): void;
  /** Counts the entry as one that is not in the expected format. @param reason in a few words */
  invalid(reason?: string): void;
  /** Counts an entry, or a part of one, whose type the adapter does not know. The type is sent as telemetry. */
  unhandled(type: string): void;
  /** Tells where this reading ended, once all that stands before was sent. Only for an input with one session. */
  checkpoint(at: Checkpoint): void;
  /** Set if checkpoints would be dropped, so that none needs to be made. */
  readonly ignoresCheckpoints?: boolean;
  /** To be awaited regularly (for example after each chunk of a file), so that uploads can proceed. */
  pause(): Promise<void>;
}

/** Reads the sessions of one agent. Adapters are listed in adapters/registry.ts. */
export interface Adapter {
  /** The `source` of its sessions. */
  readonly name: string;
  /** The agent's name for people. */
  readonly title: string;
  /** To be raised when the same file yields other sessions than before: every file is then parsed and sent again. */
  readonly version: number;
  /** Whether its sessions name their source themselves. */
  readonly holdsAnySource?: boolean;
  /** The folders that it searches, whether they exist or not. */
  searchRoots(host: Host): SearchRoot[];
  /** Every input, in any order; none where a folder is missing. */
  discover(host: Host): AsyncIterable<Input>;
  /**
   * Parses one input in bounded memory. Unknown content is counted, never guessed; an incomplete last line is left for the
   * next run.
   *
   * @throws where the input can't be read
   */
  parse(input: Input, sink: Sink): Promise<void>;
}
