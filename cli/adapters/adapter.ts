export type Host = {
  home: string;
  cwd: string;
  /** A `~` at the beginning of a value is already replaced by the home folder. */
  env: Record<string, string | undefined>;
  platform: NodeJS.Platform;
};

export type SearchRoot = {
  path: string;
  variable?: string;
};

/** A file, or another unit that an adapter parses in one go. */
export type Input = {
  /** A file's path, or another name that is unique within the adapter. Never sent as telemetry. */
  path: string;
  bytes: number;
  /** In milliseconds since 1970. */
  modifiedAt: number;
  /** Changes whenever the content may have changed. */
  stamp: string;
  /** This Node can't read the input; a newer one gives it another stamp. */
  needsNewerNode?: boolean;
  /** Nobody writes to it any more: an incomplete last line is an error. */
  isComplete?: boolean;
  /** Also true of a session whose file is gone. */
  isStored?(sourceId: string): boolean;
  /** Undefined if the version of the adapter that read the session is not known. */
  sentVersion?(sourceId: string): number | undefined;
  /** The adapter continues where an earlier reading ended. */
  from?: Resumption;
};

export type Checkpoint = { offset: number; line: number; state: Record<string, unknown> };

export type Resumption = Checkpoint & { messages: number };

/** A message as `POST /api/ingest` takes it; docs/trace-format.md describes its metadata. */
export type Message = {
  /** By default the number of messages before it. */
  position?: number;
  role?: string;
  content: string;
  /** Only the first of several messages with one reported usage has it. */
  tokenCount?: number;
  /** ISO 8601 with an offset or Z. */
  createdAt?: string;
  metadata?: Record<string, unknown>;
};

/** Known once all of a session is read. Other fields are sent unchanged. */
export type SessionDetails = {
  model?: string;
  title?: string;
  project?: string;
  createdAt?: string;
  metadata?: Record<string, unknown>;
  [field: string]: unknown;
};

/** Counts an unknown type. */
export type Unhandled = (type: string) => void;

/** Receives what an adapter parses, and counts every entry (a line or list item). */
export interface Sink {
  /**
   * Begins a session; the one before must have ended.
   *
   * @param messages the number of its messages before the checkpoint
   */
  begin(source: string, sourceId: string, messages?: number): void;
  message(message: Message): void;
  end(details: SessionDetails): void;
  /** Leaves out the current session, for a reason that is shown. */
  reject(reason: string): void;
  /** Reports a part that can't be read, for a reason that is shown. */
  lost(reason: string): void;
  /** Names the session's folder, and throws if its project is left out: call it before reading more. */
  folder(path: string): void;
  entry(line?: number): void;
  /** Counts the entry as one without a message, on purpose. */
  skipped(): void;
  /** Counts the entry as one in an unexpected format. */
  invalid(reason?: string): void;
  /** Counts an unknown type, which is sent as telemetry. */
  unhandled(type: string): void;
  /** Notes where this reading ended. Only for an input with one session. */
  checkpoint(at: Checkpoint): void;
  /** Checkpoints would be dropped. */
  readonly ignoresCheckpoints?: boolean;
  /** Must be awaited regularly, so that uploads can proceed. */
  pause(): Promise<void>;
}

/** Reads the sessions of one agent. Adapters are listed in adapters/registry.ts. */
export interface Adapter {
  readonly name: string;
  readonly title: string;
  /** Raise it when a file yields other sessions than before: every file is then parsed and sent again. */
  readonly version: number;
  /** The sessions name their source themselves. */
  readonly holdsAnySource?: boolean;
  getSearchRoots(host: Host): SearchRoot[];
  discover(host: Host): AsyncIterable<Input>;
  /**
   * Counts unknown content, never guesses it; leaves an incomplete last line for the next run.
   *
   * @throws if the input can't be read
   */
  parse(input: Input, sink: Sink): Promise<void>;
}
