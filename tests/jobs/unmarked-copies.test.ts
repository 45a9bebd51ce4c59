import { afterEach, expect, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { pool } from "#lib/db/client";
import { accountTraces } from "#lib/ledger/account";
import { deleteTrace } from "#lib/traces/deletion";
import { isLong } from "../support/long.ts";
import { makeRandom } from "../support/random.ts";
import { provideOwner } from "../support/server.ts";
import { expectSameAnew, expectSums } from "./ledger-sums.ts";
import { getUploads } from "./uploads.ts";

const { userId } = await provideOwner();
const { send } = getUploads(userId);

afterEach(async () => {
  for (const table of ["trace", "trace_usage", "message_usage", "usage_quarter_hour", "usage_facets"])
    await pool().query(`delete from ${table}`);
});

type Written = { role: string; content: string; createdAt: string; metadata: object };
type Session = { sourceId: string; createdAt: string; messages: Written[]; sent: number };

/** Sessions that begin with what others had when they were resumed on another machine, without a mark. */
class Family {
  readonly sessions: Session[] = [];
  readonly log: string[] = [];
  readonly #random: () => number;
  #clock = Date.parse("2026-03-02T10:00:00.123Z");

  constructor(seed: number) {
    this.#random = makeRandom(seed);
    const copied = (from: Session | undefined) =>
      from?.messages.slice(0, 2 + this.pick(from.messages.length - 1)) ?? [];
    for (let number = 0; number < 2 + this.pick(4); number++) {
      const messages = copied(this.sessions[this.pick(this.sessions.length)]);
      this.#clock += 60_000;
      const createdAt = new Date(this.#clock).toISOString();
      this.sessions.push({ sourceId: `s${number}`, createdAt, messages, sent: 0 });
      this.#grow(messages, number === 0 ? 4 + this.pick(8) : this.pick(5));
    }
  }

  pick(count: number): number {
    return Math.floor(this.#random() * count);
  }

  #grow(messages: Written[], count: number): void {
    for (let added = 0; added < count; added++) {
      this.#clock += 1000 + this.pick(5000);
      const role = ["user", "assistant", "tool"][messages.length % 3] as string;
      const answer = { requestId: `r${this.#clock}`, usage: { inputTokens: 5, outputTokens: 1 + this.pick(9) } };
      const createdAt = new Date(this.#clock).toISOString();
      messages.push({ role, content: createdAt, createdAt, metadata: role === "assistant" ? answer : {} });
    }
  }

  async step(): Promise<void> {
    const session = this.sessions[this.pick(this.sessions.length)];
    if (session && session.sent > 0 && this.pick(4) === 0) await this.#remove(session);
    else if (session) await this.#send(session);
  }

  async #remove(session: Session): Promise<void> {
    this.log.push(`delete ${session.sourceId}`);
    const { rows } = await pool().query("select id from trace where source_id = $1", [session.sourceId]);
    await deleteTrace(userId, rows[0].id, operator);
    this.sessions.splice(this.sessions.indexOf(session), 1);
  }

  async #send(session: Session): Promise<void> {
    const { sourceId, createdAt, messages, sent } = session;
    if (sent === messages.length) this.#grow(messages, 1 + this.pick(3));
    // A copy without an answer shows nothing that it shares.
    const some = Math.max(2, sent + 1 + this.pick(messages.length - sent));
    session.sent = this.pick(2) === 0 ? messages.length : some;
    this.log.push(`send ${sourceId}, ${session.sent} of ${messages.length}`);
    const numbered = messages.slice(0, session.sent).map((message, position) => ({ position, ...message }));
    await send({ source: "claude-code", sourceId, createdAt, messages: numbered });
  }

  countMessages(): number {
    return new Set(this.sessions.flatMap(({ messages, sent }) => messages.slice(0, sent))).size;
  }
}

const seeds = Array.from({ length: isLong ? 60 : 4 }, (_, seed) => seed);

test.each(seeds)("family %i: every message counts once, whatever is sent, grows and is deleted", async (seed) => {
  const family = new Family(seed);
  for (let step = 0; step < 8; step++) {
    await family.step();
    await accountTraces(30);
    const { rows } = await pool().query("select coalesce(sum(messages), 0)::int as messages from trace_usage");
    expect([family.log, rows[0].messages]).toEqual([family.log, family.countMessages()]);
    await expectSums();
  }
  await expectSameAnew();
});

test("the messages of 160 copies count once, in time that grows with their number", async () => {
  const began = Date.parse("2026-03-02T10:00:00.123Z");
  const messages = Array.from({ length: 60 }, (_, position) => ({
    ...{ position, content: `${position}`, role: position % 2 === 0 ? "user" : "assistant" },
    createdAt: new Date(began + position * 1000).toISOString(),
    metadata: position % 2 === 0 ? {} : { requestId: `r${position}`, usage: { inputTokens: 5, outputTokens: 1 } },
  }));
  const copies = Array.from({ length: 160 }, (_, copy) => ({
    ...{ source: "claude-code", sourceId: `s${copy}`, messages },
    createdAt: new Date(began + copy).toISOString(),
  }));
  await send(...copies);
  const start = performance.now();
  expect(await accountTraces(60)).toBe(copies.length);
  expect(performance.now() - start).toBeLessThan(15_000);
  const { rows } = await pool().query("select sum(messages)::int as messages from trace_usage");
  expect(rows[0].messages).toBe(messages.length);
});
