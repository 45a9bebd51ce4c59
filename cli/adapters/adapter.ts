/** Where the sessions of a machine are looked for. Tests make one up. */
export type Host = {
  /** The home folder. */
  home: string;
  /** The folder in which the client was started. */
  cwd: string;
  env: Record<string, string | undefined>;
  platform: NodeJS.Platform;
};

/** A folder or file that an adapter looks at. */
export type SearchRoot = {
  path: string;
  /** The environment variable that names it, where one does. */
  from?: string;
};

/** One file of an agent's, or what else an adapter parses in one go. */
export type Input = {
  /** Its name within the adapter: the path, where it is a file. Never sent as telemetry. */
  path: string;
  bytes: number;
  /** When it was written last, in milliseconds since 1970. */
  modifiedAt: number;
  /** Changes whenever what it holds may have changed. */
  stamp: string;
};

/** A message as `POST /api/ingest` takes it; the vocabulary of its metadata is docs/trace-format.md's. */
export type Message = {
  /** Its place in the session; left out, it is the number of messages before it. */
  position?: number;
  role?: string;
  content: string;
  /** Tokens that this message added; of several that share one reported usage, only the first has it. */
  tokenCount?: number;
  /** ISO 8601 with an offset or Z. */
  createdAt?: string;
  metadata?: Record<string, unknown>;
};

/** What is known of a session when all of it is read. Other fields go along as they are. */
export type SessionDetails = {
  model?: string;
  title?: string;
  project?: string;
  createdAt?: string;
  metadata?: Record<string, unknown>;
  [field: string]: unknown;
};

/**
 * What an adapter tells while it parses. It counts as it goes: of all entries (lines, list items), some are skipped on
 * purpose, some are not what the format says, and some are of a type that is not known.
 */
export interface Sink {
  /** A session begins; the one before it has ended or was rejected. */
  begin(source: string, sourceId: string): void;
  message(message: Message): void;
  /** The session is whole. */
  end(ending: SessionDetails): void;
  /** The session that was begun is left out, for a reason that a person understands. It is named, never dropped in silence. */
  reject(reason: string): void;
  /** A part of the session, or of the input, can't be read, for a reason that a person understands: the rest is sent. */
  lost(reason: string): void;
  /** An entry was read. */
  entry(): void;
  /** The entry is none of the conversation, and known to be. */
  skipped(): void;
  /** The entry is not what the format says. */
  invalid(): void;
  /** The entry, or a part of it, is of a type that the adapter does not know: its name, which is sent as telemetry. */
  unhandled(type: string): void;
  /** To be awaited now and then (a chunk of a file is a good measure), so that other work gets its turn. */
  pause(): Promise<void>;
}

/** What reads the sessions of one agent. One file each, listed in adapters/all.ts. */
export interface Adapter {
  /** The `source` of its sessions. */
  readonly name: string;
  /** The agent as people call it. */
  readonly title: string;
  /** To be raised when the same file makes other sessions than before: everything is parsed and sent again then. */
  readonly version: number;
  /** Where it looks, whether that is there or not. */
  diagnose(host: Host): SearchRoot[];
  /** Everything there is to parse, in any order. A missing folder has nothing in it. */
  discover(host: Host): AsyncIterable<Input>;
  /**
   * Parses one input in memory that does not grow with it. What is not known is counted, never guessed and never thrown;
   * what is still being written (a last line without its end) is left for later.
   *
   * @throws where the input can't be read
   */
  parse(input: Input, sink: Sink): Promise<void>;
}
