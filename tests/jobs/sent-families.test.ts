import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { pool } from "#lib/db/client";
import { accountTraces } from "#lib/ledger/account";
import { deleteTrace } from "#lib/traces/deletion";
import { countFileEdits, makeFamily, truthOf } from "../cli/claude-families.ts";
import { linesOf, makeHome, writeBelow } from "../cli/home.ts";
import { longTest } from "../support/long.ts";
import { makeRandom } from "../support/random.ts";
import { provideOwner } from "../support/server.ts";
import { expectSums } from "./ledger-sums.ts";
import { receiveFiles } from "./sent-files.ts";

const { userId } = await provideOwner();
const { push, countStored, countMessages, countEdits, clear } = await receiveFiles(userId);

type Lines = Parameters<typeof truthOf>[0]["files"];

const pathOf = (name: string) => `.claude/projects/-p/${name}.jsonl`;

const storedOf = (files: Lines) => {
  const { tokens, commits } = truthOf({ files });
  return { tokens, commits };
};

/**
 * Sends a family from one or two machines, file after file in any order, some at first in part; files and stored sessions are
 * deleted between. Whatever is stored then counts once; messages do if one machine has seen all files.
 */
async function sendFamily(seed: number): Promise<void> {
  const random = makeRandom(seed + 77);
  const files = [...makeFamily(seed).files];
  const homes = [(await makeHome()).home, ...(seed % 2 === 0 ? [] : [(await makeHome()).home])];
  const placed = files
    .map(([name, lines]) => ({ name, lines, home: homes[Math.floor(random() * homes.length)] ?? "", order: random() }))
    .toSorted((one, other) => one.order - other.order);
  const stored: Lines = new Map();
  for (const { name, lines, home } of placed) {
    const half = random() < 0.3 ? lines.slice(0, 2 * Math.ceil(lines.length / 4)) : lines;
    for (const some of half === lines ? [lines] : [half, lines]) {
      await writeBelow(home, pathOf(name), linesOf(...some));
      if (random() < 0.7) await push(home);
      if (random() < 0.5) await accountTraces(30);
    }
    stored.set(name, lines);
  }
  for (const home of homes) await push(home);
  const expectOnce = async (what: string) => {
    expect(await countStored(), `family ${seed}${what}`).toEqual(storedOf(stored));
    expect(await countEdits(), `family ${seed}${what}`).toEqual(countFileEdits({ files: stored }));
    if (homes.length === 1)
      expect(await countMessages(), `messages of family ${seed}${what}`).toBe(truthOf({ files: stored }).messages);
  };
  await expectOnce("");
  const gone = placed[0];
  if (!gone) return;
  await rm(join(gone.home, pathOf(gone.name)));
  await writeBelow(gone.home, pathOf("later"), linesOf(...gone.lines.map((line) => ({ ...line, sessionId: "later" }))));
  await push(gone.home);
  await expectOnce(", with a copy of a file that is gone");
  const { rows } = await pool().query("select id from trace where source_id = $1", [gone.name]);
  await deleteTrace(userId, rows[0]?.id, operator);
  await expectOnce(", one deleted on the server");
  await expectSums();
  await clear(homes);
}

async function sendFamilies(from: number, to: number): Promise<void> {
  for (let seed = from; seed < to; seed++) await sendFamily(seed);
}

test("every token, commit and edit of a random family counts once on the server, from two machines, in any order, whatever is gone", () =>
  sendFamilies(0, 2));

longTest(
  "every token, commit and edit of 10,000 random families counts once on the server",
  { timeout: 10_800_000 },
  () => sendFamilies(2, 10_002),
);
