import type { AdapterInput } from "../sessions/inputs.ts";
import { inputKey } from "../sessions/inputs.ts";
import type { KnownSession, SentState, Session, UnsentSession } from "../sessions/session.ts";
import type { KeptSession } from "./jobs.ts";
import { type SentRecord, sessionKey } from "./sent-record.ts";

type NotedSession = {
  input: AdapterInput;
  sentAs: "append" | "whole" | "replacement";
  end?: SentState;
};

/**
 * The server wants a session whole if its message count differs. The whole replaces what is stored, unless it is
 * shorter.
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

  note(part: Session, input: AdapterInput): void {
    const key = sessionKey(part);
    const before = this.#noted.get(key);
    const isReplacing = this.#replacing.has(key);
    const first = isReplacing ? "replacement" : "whole";
    const sentAs = part.append === undefined ? first : (before?.sentAs ?? "append");
    this.#noted.set(key, { input, sentAs, ...(part.isLast && { end: part.state }) });
  }

  findInput(key: string): AdapterInput | undefined {
    return this.#noted.get(key)?.input;
  }

  want(session: Session, messageCount: number): void {
    this.#wanted.set(sessionKey(session), { session, messageCount });
  }

  get isWanted(): boolean {
    return this.#wanted.size > 0;
  }

  take(knowsAppend: boolean): { input: AdapterInput; known: Map<string, KnownSession> }[] {
    const inputs = new Map<string, { input: AdapterInput; known: Map<string, KnownSession> }>();
    for (const [key, { session, messageCount }] of this.#wanted) {
      const noted = this.#noted.get(key);
      const known = noted && this.#decide(session, noted, { messageCount, knowsAppend });
      if (!noted || !known) continue;
      const group = inputs.get(inputKey(noted.input)) ?? { input: noted.input, known: new Map() };
      inputs.set(inputKey(noted.input), group);
      group.known.set(key, known);
    }
    this.#wanted.clear();
    return [...inputs.values()];
  }

  #decide(
    { source, sourceId }: Session,
    { sentAs, end }: NotedSession,
    { messageCount, knowsAppend }: { messageCount: number; knowsAppend: boolean },
  ): KnownSession | undefined {
    const key = sessionKey({ source, sourceId });
    const leave = (reason: string) => this.#onUnsent({ source, sourceId, reason });
    if (sentAs === "append") return {};
    if (!knowsAppend)
      leave("it is too large for one upload, and this server does not support parts; update the server");
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
