/** What `--source` and `--project` are compared with. */
export type SessionLabels = {
  source: string;
  project?: string | undefined;
  /** The folder in which the session was held. */
  cwd?: string | undefined;
};

/** A session as JSON, ready to be sent. */
export type Session = SessionLabels & {
  sourceId: string;
  messages: number;
  /** Of its JSON. */
  bytes: number;
  /** SHA-256 of its JSON, as base64url. */
  hash: string;
  /** Its JSON; that of a large session as compressed pieces, which together are one body. */
  body: { plain: Buffer[] } | { compressed: Buffer[]; compressedBytes: number };
};

/** A session, or an input named by its path, that was left out. */
export type UnsentSession = { source: string; sourceId: string; reason: string };

/** The largest session that the server accepts, by `GET /api/limits`. */
export type SessionLimits = { bytes: number; messages: number };
