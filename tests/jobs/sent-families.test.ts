import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { pool } from "#lib/db/client";
import { accountTraces } from "#lib/ledger/account";
import { deleteTrace } from "#lib/traces/deletion";
import { computeTruth, countFileEdits, makeFamily } from "../cli/claude-families.ts";
import { makeHome, toLines, writeBelow } from "../cli/home.ts";
import { longTest } from "../support/long.ts";
import { makeRandom } from "../support/random.ts";
import { provideOwner } from "../support/server.ts";
import { expectSums } from "./ledger-sums.ts";
import { receiveFiles } from "./sent-files.ts";

const { userId } = await provideOwner();
const { push, countStored, countMessages, countEdits, clear } = await receiveFiles(userId);

/** A family takes a second, so the rest of 10,000 is left after this. */
const maxMs = 20 * 60_000;

type Lines = Parameters<typeof computeTruth>[0]["files"];

const makePath = (name: string) => `.claude/projects/-p/${name}.jsonl`;

const getStored = (files: Lines) => {
  const { tokens, commits } = computeTruth({ files });
  return { tokens, commits };
};

/**
 * Sends a family from one or two machines, file after file in any order, some at first in part; files and stored sessions are
 * deleted between. Whatever is stored then counts once; messages do if one machine saw all files before it sent any.
 */
async function sendFamily(seed: number): Promise<void> {
  const random = makeRandom(seed + 77);
  const files = [...makeFamily(seed).files];
  // A file that was cut off within a turn does not tell which answer its last messages belong to.
  const isWhole = files.every(([name]) => !name.includes("partial"));
  const homes = [(await makeHome()).home, ...(isWhole && seed % 2 === 0 ? [] : [(await makeHome()).home])];
  const placed = files
    .map(([name, lines]) => ({ name, lines, home: homes[Math.floor(random() * homes.length)] ?? "", order: random() }))
    .toSorted((one, other) => one.order - other.order);
  const stored: Lines = new Map();
  for (const { name, lines, home } of placed) {
    const half = random() < 0.3 ? lines.slice(0, 2 * Math.ceil(lines.length / 4)) : lines;
    for (const some of half === lines ? [lines] : [half, lines]) {
      await writeBelow(home, makePath(name), toLines(...some));
      if (homes.length > 1 && random() < 0.7) await push(home);
      if (random() < 0.5) await accountTraces(30);
    }
    stored.set(name, lines);
  }
  for (const home of homes) await push(home);
  const expectOnce = async (what: string) => {
    expect(await countStored(), `family ${seed}${what}`).toEqual(getStored(stored));
    expect(await countEdits(), `family ${seed}${what}`).toEqual(countFileEdits({ files: stored }));
    if (homes.length === 1)
      expect(await countMessages(), `messages of family ${seed}${what}`).toBe(computeTruth({ files: stored }).messages);
  };
  await expectOnce("");
  const gone = placed[0];
  if (!gone) return;
  if (homes.length === 1) stored.delete(gone.name);
  else {
    await rm(join(gone.home, makePath(gone.name)));
    await writeBelow(
      gone.home,
      makePath("later"),
      toLines(...gone.lines.map((line) => ({ ...line, sessionId: "later" }))),
    );
    await push(gone.home);
    await expectOnce(", with a copy of a file that is gone");
  }
  const { rows } = await pool().query("select id from trace where source_id = $1", [gone.name]);
  await deleteTrace(userId, rows[0]?.id, operator);
  await expectOnce(", one deleted on the server");
  await expectSums();
  await clear(homes);
}

test("every token, commit and edit of a random family counts once on the server, from two machines, in any order, whatever is gone", async () => {
  for (const seed of [0, 1, 2, 3]) await sendFamily(seed);
});

longTest(
  "every token, commit and edit of up to 10,000 random families counts once on the server",
  { timeout: maxMs + 120_000 },
  async () => {
    const startedAt = performance.now();
    for (let seed = 4; seed < 10_004 && performance.now() < startedAt + maxMs; seed++) await sendFamily(seed);
  },
);
