import { afterEach, expect, vi } from "vitest";
import { prisma, transaction } from "#lib/db/client";
import { accountTraces } from "#lib/ledger/account";
import { digestPart } from "#lib/ledger/digest/part";
import { evidencePart } from "#lib/ledger/evidence/evidence";
import { replaceFindings } from "#lib/ledger/sql/secrets";
import { type Mask, maskJson } from "#lib/masking/mask-pieces";
import { AgentAnswer } from "#lib/mcp/answer";
import { readSession } from "#lib/mcp/tools/read-session";
import { longTest } from "../support/long.ts";
import { provideOwner } from "../support/server.ts";
import { getUploads } from "./uploads.ts";

const { userId } = await provideOwner();
const { send, stored } = getUploads(userId);
afterEach(() => vi.restoreAllMocks());

const said = (content: string) => ({ position: 0, role: "user", content, createdAt: "2026-03-02T10:00:00Z" });

/** Has the ledger's evidence look for something in each text that takes for ever in some. */
function lookForever() {
  const begin = evidencePart.begin.bind(evidencePart);
  vi.spyOn(evidencePart, "begin").mockImplementation((...given) => {
    const reading = begin(...given);
    const see = reading.see.bind(reading);
    return Object.assign(reading, {
      see: (message: Parameters<typeof see>[0]) => {
        /^(a+)+$/.test(message.content);
        see(message);
      },
    });
  });
}

longTest(
  "a text on which a part of the ledger would work for ever costs it that part, and other sessions nothing",
  async () => {
    const commit = { hash: "abcdef0".padEnd(40, "1"), position: 0 };
    const made = { metadata: { commits: [commit] } };
    await send(
      { sourceId: "before", messages: [said("hello")], ...made },
      { sourceId: "endless", messages: [said(`${"a".repeat(60)}b`), { ...said("then"), position: 1 }], ...made },
      { sourceId: "behind", messages: [said("hello")], ...made },
    );
    lookForever();
    expect(await accountTraces(30)).toBe(3);
    const countCommits = async (sourceId: string) =>
      prisma().traceCommit.count({ where: { userId, traceId: (await stored(sourceId))?.id ?? "" } });
    expect(await Promise.all(["before", "endless", "behind"].map(countCommits))).toEqual([1, 0, 1]);
    const { turnCount, ledgerDue } = await prisma().trace.findFirstOrThrow({ where: { userId, sourceId: "endless" } });
    expect({ turnCount, ledgerDue }).toEqual({ turnCount: 2, ledgerDue: false });
  },
);

longTest(
  "a session in whose middle the machine stood still is accounted for later, and no part of it is left out",
  async () => {
    const commits = [{ hash: "abcdef1".padEnd(40, "2"), position: 0 }];
    await send({ sourceId: "still", messages: [said("hello")], metadata: { commits } });
    const begin = digestPart.begin.bind(digestPart);
    const standStill = vi.spyOn(digestPart, "begin").mockImplementation((...given) => {
      const nothing = new Int32Array(new SharedArrayBuffer(4));
      return Object.assign(begin(...given), { see: () => Atomics.wait(nothing, 0, 0, 10_000) });
    });
    expect(await accountTraces(5)).toBe(0);
    standStill.mockRestore();
    const { ledgerDue } = await prisma().trace.findFirstOrThrow({ where: { userId, sourceId: "still" } });
    expect(ledgerDue).toBe(true);
  },
);

const endless = () => /^(a+)+$/.test(`${"a".repeat(60)}b`);

longTest("metadata that would be masked for ever is left out of what is for others", async () => {
  async function* pieces() {
    yield '{"a":"b"}';
  }
  const hideForever: Mask = (text) => (endless() ? text : "");
  expect(JSON.parse(await maskJson(pieces(), hideForever))).toEqual({ omitted: "too long to be masked" });
});

longTest("an agent's reading of a message without end is refused", async () => {
  await send({ sourceId: "read", messages: [said("hello")] });
  const { id = "" } = (await stored("read")) ?? {};
  const add = vi.spyOn(AgentAnswer.prototype, "add").mockImplementation(endless);
  const reading = readSession.run({ session: id, detail: "all" }, { userId, projectId: null });
  await expect(reading).rejects.toMatchObject({ code: "overloaded" });
  expect(add).toHaveBeenCalledOnce();
});

longTest(
  "secrets that would be looked for in a session's own fields for ever end the ledger's turn at it",
  async () => {
    await send({ sourceId: "fields", messages: [said("hello")] });
    const { id = "" } = (await stored("fields")) ?? {};
    const finding = { traceId: id, from: 0, at: new Date(), found: [] };
    const replacing = transaction((tx) => replaceFindings(tx, userId, [finding], () => (endless() ? [] : [])));
    await expect(replacing).rejects.toMatchObject({ code: "overloaded" });
  },
);

longTest(
  "a member's turn in the ledger ends after some seconds: the sessions that were not read stay due",
  async () => {
    const messages = Array.from({ length: 1001 }, (_, position) => ({ ...said(`message ${position}`), position }));
    const sourceIds = ["turn 1", "turn 2", "turn 3"];
    await send(...sourceIds.map((sourceId) => ({ sourceId, messages })));
    const begin = evidencePart.begin.bind(evidencePart);
    vi.spyOn(evidencePart, "begin").mockImplementation((...given) =>
      Object.assign(begin(...given), {
        see: () => {
          for (const until = performance.now() + 6; performance.now() < until; );
        },
      }),
    );
    await accountTraces(1);
    expect(await prisma().trace.count({ where: { userId, sourceId: { in: sourceIds }, ledgerDue: true } })).toBe(2);
  },
);
