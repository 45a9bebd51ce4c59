import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { pool } from "#lib/db/client";
import { deleteTrace } from "#lib/traces/deletion";
import { editsOfRollouts, makeCodexFamily, truthOfRollouts } from "../cli/codex-families.ts";
import { makeHome, toLines, writeBelow } from "../cli/home.ts";
import { editsOfSessions, makeOpencodeFamily, outputOfSessions, writeSession } from "../cli/opencode-families.ts";
import { data, database } from "../cli/opencode-files.ts";
import { longTest } from "../support/long.ts";
import { makeRandom } from "../support/random.ts";
import { provideOwner } from "../support/server.ts";
import { expectSums } from "./ledger-sums.ts";
import { receiveFiles } from "./sent-files.ts";

const { userId } = await provideOwner();
const pickOne = <T>(list: readonly T[], random: () => number): T => list[Math.floor(random() * list.length)] as T;
const { push, countStored, countEdits, clear } = await receiveFiles(userId);

const countTokens = async () => (await countStored()).tokens;

type Entry = [path: string, lines: object[]];

/** Deletes the session of a rollout on the server. */
async function deleteStored(path: string): Promise<void> {
  const [, id] = /-([0-9a-f]{8}-[-0-9a-f]{27})\.jsonl$/.exec(path) ?? [];
  const { rows } = await pool().query("select id from trace where source_id = $1", [id]);
  await deleteTrace(userId, rows[0]?.id, operator);
}

/** Sends the rollouts of a family from two machines in any order; some were cleaned away before, and one is deleted afterwards. */
async function sendCodexFamily(seed: number): Promise<void> {
  const random = makeRandom(seed + 77);
  const family = makeCodexFamily(seed);
  const homes = [(await makeHome()).home, (await makeHome()).home];
  const placed = [...family.files].map(([path, lines]) => ({ path, lines, order: random() }));
  const left = placed.toSorted((one, other) => one.order - other.order).slice(random() < 0.6 ? 1 : 0);
  const sent: string[] = [];
  for (const { path, lines } of left) {
    const home = homes[random() < 0.5 ? 0 : 1] ?? "";
    await writeBelow(home, path, toLines(...lines));
    await push(home);
    sent.push(path);
    if (random() < 0.5) expect(await countStored(), `family ${seed}, in part`).toEqual(truthOfRollouts(family, sent));
  }
  expect(await countStored(), `family ${seed}`).toEqual(truthOfRollouts(family, sent));
  expect(await countEdits(), `family ${seed}`).toEqual(editsOfRollouts(family, sent));
  const [gone = "", ...others] = sent;
  await deleteStored(gone);
  expect(await countStored(), `family ${seed}, one deleted on the server`).toEqual(truthOfRollouts(family, others));
  expect(await countEdits(), `family ${seed}, one deleted on the server`).toEqual(editsOfRollouts(family, others));
  await expectSums();
  await clear(homes);
}

test("what a Codex fork copied counts once where this machine sent the parent, which was cleaned away here, then deleted on the server", async () => {
  const family = makeCodexFamily(3);
  const [[parentPath, parent], [forkPath, fork]] = [...family.files] as [Entry, Entry];
  const { home } = await makeHome();
  await writeBelow(home, parentPath, toLines(...parent));
  await push(home);
  await rm(join(home, parentPath));
  await writeBelow(home, forkPath, toLines(...fork));
  await push(home);
  expect(await countStored()).toEqual(truthOfRollouts(family, [parentPath, forkPath]));
  await deleteStored(parentPath);
  expect(await countStored()).toEqual(truthOfRollouts(family, [forkPath]));
  await expectSums();
  await clear([home]);
});

/** Sends the sessions of a family from two machines' databases in any order; one is deleted on its machine, then on the server. */
async function sendOpencodeFamily(seed: number): Promise<void> {
  const random = makeRandom(seed + 77);
  const sessions = makeOpencodeFamily(seed);
  const hosts = [await makeHome({ [`${data}/log/x.log`]: "" }), await makeHome({ [`${data}/log/x.log`]: "" })];
  const machines = hosts.map((host) => ({ home: host.home, db: database(host, {}) }));
  const placed = sessions.map((session) => ({ session, machine: pickOne(machines, random), order: random() }));
  const sent: typeof sessions = [];
  for (const { session, machine } of placed.toSorted((one, other) => one.order - other.order)) {
    writeSession(machine.db, session);
    sent.push(session);
    if (random() < 0.3) continue;
    for (const { home } of machines) await push(home);
    if (random() < 0.5) expect(await countTokens(), `family ${seed}, in part`).toBe(outputOfSessions(sent));
  }
  const { session: gone, machine } = pickOne(placed, random);
  for (const { home } of machines) await push(home);
  expect(await countTokens(), `family ${seed}`).toBe(outputOfSessions(sessions));
  expect(await countEdits(), `family ${seed}`).toEqual(editsOfSessions(sessions));
  machine.db.exec(`DELETE FROM message WHERE session_id = '${gone.id}'; DELETE FROM session WHERE id = '${gone.id}'`);
  for (const { home } of machines) await push(home);
  expect(await countTokens(), `family ${seed}, one gone from its database`).toBe(outputOfSessions(sessions));
  const { rows } = await pool().query("select id from trace where source_id = $1", [gone.id]);
  await deleteTrace(userId, rows[0]?.id, operator);
  const left = sessions.filter((session) => session !== gone);
  expect(await countTokens(), `family ${seed}, one deleted on the server`).toBe(outputOfSessions(left));
  expect(await countEdits(), `family ${seed}, one deleted on the server`).toEqual(editsOfSessions(left));
  await expectSums();
  for (const { db } of machines) db.close();
  await clear(machines.map(({ home }) => home));
}

async function sendOpencodeFamilies(from: number, to: number): Promise<void> {
  for (let seed = from; seed < to; seed++) await sendOpencodeFamily(seed);
}

async function sendCodexFamilies(from: number, to: number): Promise<void> {
  for (let seed = from; seed < to; seed++) await sendCodexFamily(seed);
}

test("every token, commit and edit of a random family of Codex' rollouts counts once on the server, also where a parent was cleaned away", () =>
  sendCodexFamilies(0, 2));

longTest(
  "every token, commit and edit of 1,000 random families of Codex' rollouts counts once",
  { timeout: 3_600_000 },
  () => sendCodexFamilies(2, 1002),
);

test("every token and edit of a random family of OpenCode's sessions counts once on the server, whatever their titles are", () =>
  sendOpencodeFamilies(7, 9));

longTest(
  "every token and edit of 1,000 random families of OpenCode's sessions counts once",
  { timeout: 3_600_000 },
  () => sendOpencodeFamilies(9, 1009),
);
