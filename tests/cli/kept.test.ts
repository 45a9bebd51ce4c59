import { appendFile, mkdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { stateFolder } from "../../cli/files/state-files.ts";
import { deleted } from "./fake-server.ts";
import { toLines, writeBelow } from "./home.ts";
import { claudeLines } from "./sessions.ts";
import { claudePath, makeId, world } from "./world.ts";

const id = makeId(1);
const key = `claude-code/${id}`;
const turns = (from: number, to: number) => toLines(...claudeLines(id, to).slice(from * 4));

/** A machine with a session of three turns, of which the server has more. */
async function behind(stored: number) {
  const made = await world(0);
  const path = await writeBelow(made.home, claudePath(1), turns(0, 3));
  made.fake.archive.set(key, stored);
  const status = async (...words: string[]) => (await made.run(words)).errors;
  return { ...made, path, status };
}

test("a session of which the server has more is told once, with what can be done, and is in the status until it is archived", async () => {
  const { fake, path, push, run, status } = await behind(40);
  const told = `Not updated: claude-code ${id}: the server has 40 messages, this machine fewer.`;
  const first = await run(["push"]);
  expect(first.errors).toContain(told);
  expect(first.errors).toContain(`push --replace ${id}`);
  expect((await push()).kept).toEqual([]);
  await appendFile(path, turns(3, 4));
  expect((await push()).kept).toEqual([]);
  expect(await status("status")).toContain(told);
  expect(await status("service", "status")).toContain(told);
  await appendFile(path, turns(4, 5));
  expect(await push("--replace", id)).toMatchObject({ code: 0, kept: [], sent: { sessions: 1 } });
  expect(fake.archive.get(key)).toBe(20);
  expect(await status("status")).not.toContain("Kept as stored");
  await appendFile(path, turns(5, 6));
  await push();
  expect(fake.archive.get(key)).toBe(24);
});

test("a session that was deleted on the server is told once, however it grows", async () => {
  const { path, push, run } = await behind(deleted);
  expect((await run(["push"])).errors).toContain("Not archived: 1 session that you deleted on the server.");
  await appendFile(path, turns(3, 4));
  expect((await push()).kept).toEqual([]);
});

test("only a session that was sent from here can replace what is stored", async () => {
  const { push } = await behind(0);
  expect(await push("--replace", "nobody")).toMatchObject({ error: "usage" });
});

test("what the client has sent itself is replaced by fewer messages, also from a file that was moved meanwhile", async () => {
  const { fake, home, path, push } = await behind(0);
  await push();
  const moved = path.replace("-home-ada-code-api", "-home-ada-code-other");
  await mkdir(dirname(moved), { recursive: true });
  await rename(path, moved);
  await push();
  await rm(moved);
  await writeBelow(home, moved.slice(home.length + 1), turns(1, 3));
  expect((await push()).kept).toEqual([]);
  expect(fake.archive.get(key)).toBe(8);
});

test("a session that was sent without its record is told where it has become shorter, and goes on once it is longer", async () => {
  const { fake, client, home, path, push } = await behind(0);
  await push();
  await rm(stateFolder({ home, cwd: home, env: {}, platform: "linux" }), { recursive: true });
  await rm(path);
  await writeBelow(home, claudePath(1), turns(0, 2));
  expect(await push()).toMatchObject({ kept: [{ sourceId: id, reason: "shorter", messageCount: 12 }] });
  await appendFile(join(client.home, claudePath(1)), turns(2, 5));
  expect(await push()).toMatchObject({ kept: [] });
  expect(fake.archive.get(key)).toBe(20);
});
