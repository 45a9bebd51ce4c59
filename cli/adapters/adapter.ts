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

export type Input = {
  /** A file's path, or another name, unique within the adapter and never sent as telemetry. */
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
  /** If several messages share one reported usage, only the first has it. */
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

export type Unhandled = (type: string) => void;

/** An adapter counts every entry (a line or list item). */
export interface Sink {
  /**
   * `end` must have been called for the previous session.
   *
   * @param messages the number of its messages before the checkpoint
   */
  begin(source: string, sourceId: string, messages?: number): void;
  message(message: Message): void;
  end(details: SessionDetails): void;
  /** It leaves out the current session; the user sees the reason. */
  reject(reason: string): void;
  /** A part can't be read; the user sees the reason. */
  lost(reason: string): void;
  /** It throws if the folder's project is left out, so call it before reading more. */
  folder(path: string): void;
  entry(line?: number): void;
  /** Counts the entry as one without a message, on purpose. */
  skipped(): void;
  invalid(reason?: string): void;
  unhandled(type: string): void;
  /** Only an input with one session can have checkpoints. */
  checkpoint(at: Checkpoint): void;
  readonly ignoresCheckpoints?: boolean;
  /** Must be awaited regularly, so that uploads can proceed. */
  pause(): Promise<void>;
}

export interface Adapter {
  readonly name: string;
  readonly title: string;
  /** Raise it when a file yields other sessions than before: every file is parsed and sent again. */
  readonly version: number;
  /** The sessions name their source themselves. */
  readonly holdsAnySource?: boolean;
  getSearchRoots(host: Host): SearchRoot[];
  discover(host: Host): AsyncIterable<Input>;
  /**
   * It never guesses unknown content, and leaves an incomplete last line for the next run.
   *
   * @throws if the input can't be read
   */
  parse(input: Input, sink: Sink): Promise<void>;
}
