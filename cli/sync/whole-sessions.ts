import type { AdapterInput } from "../sessions/inputs.ts";
import { inputKey } from "../sessions/inputs.ts";
import type { KnownSession, SentState, Session, UnsentSession } from "../sessions/session.ts";
import type { KeptSession } from "./jobs.ts";
import { type SentRecord, sessionKey } from "./sent-record.ts";

/** A session of this run: where it is read, how its first part was sent, and what is known of its last one. */
type NotedSession = {
  input: AdapterInput;
  sentAs: "append" | "whole" | "replacement";
  end?: SentState;
};

/**
 * The sessions that the server wants whole, since it has another number of messages of them than was sent. One that is sent in
 * parts may find more messages stored than its first part has: it then replaces them, unless it is the shorter one itself.
 */
export class WholeSessions {
  readonly #record: SentRecord;
  readonly #onUnsent: (session: UnsentSession) => void;
  readonly #onKept: (session: KeptSession) => void;
  readonly #noted = new Map<string, NotedSession>();
  readonly #replacing = new Set<string>();
  readonly #wanted = new Map<string, { session: Session; messageCount: number }>();

  constructor(
    record: SentRecord,
    { onUnsent, onKept }: { onUnsent: (session: UnsentSession) => void; onKept: (session: KeptSession) => void },
  ) {
    this.#record = record;
    this.#onUnsent = onUnsent;
    this.#onKept = onKept;
  }

  /** Notes a part that is about to be sent. */
  note(part: Session, input: AdapterInput): void {
    const key = sessionKey(part);
    const before = this.#noted.get(key);
    const isReplacing = this.#replacing.has(key);
    const first = isReplacing ? "replacement" : "whole";
    const sentAs = part.append === undefined ? first : (before?.sentAs ?? "append");
    this.#noted.set(key, { input, sentAs, ...(part.isLast && { end: part.state }) });
  }

  /** The input that a session of this run is in. */
  findInput(key: string): AdapterInput | undefined {
    return this.#noted.get(key)?.input;
  }

  /** Takes a session that the server wants whole. @param messageCount how many messages it has */
  want(session: Session, messageCount: number): void {
    this.#wanted.set(sessionKey(session), { session, messageCount });
  }

  get isWanted(): boolean {
    return this.#wanted.size > 0;
  }

  /** The inputs that are to be read again, and how their wanted sessions are to be sent. */
  take(knowsAppend: boolean): { input: AdapterInput; known: Map<string, KnownSession> }[] {
    const inputs = new Map<string, { input: AdapterInput; known: Map<string, KnownSession> }>();
    for (const [key, { session, messageCount }] of this.#wanted) {
      const noted = this.#noted.get(key);
      const known = noted && this.#judge(session, noted, { messageCount, knowsAppend });
      if (!noted || !known) continue;
      const group = inputs.get(inputKey(noted.input)) ?? { input: noted.input, known: new Map() };
      inputs.set(inputKey(noted.input), group);
      group.known.set(key, known);
    }
    this.#wanted.clear();
    return [...inputs.values()];
  }

  /** @returns undefined for a session that is not to be sent again */
  #judge(
    { source, sourceId }: Session,
    { sentAs, end }: NotedSession,
    { messageCount, knowsAppend }: { messageCount: number; knowsAppend: boolean },
  ): KnownSession | undefined {
    const key = sessionKey({ source, sourceId });
    const leave = (reason: string) => this.#onUnsent({ source, sourceId, reason });
    if (sentAs === "append") return {};
    if (!knowsAppend) leave("it is too large for one upload, and this server takes no parts: update it");
    else if (sentAs === "replacement") leave("another upload changed it at the same time; push again");
    else if (end && (end.counts.at(-1) ?? 0) < messageCount) {
      const kept = { reason: "shorter", messageCount };
      if (this.#record.getKept(key)?.reason !== kept.reason) this.#onKept({ source, sourceId, ...kept });
      this.#record.settle(key, { ...end, kept });
    } else {
      this.#replacing.add(key);
      return { replaces: true };
    }
    return undefined;
  }
}
