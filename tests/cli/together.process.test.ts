import { appendFile, cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { until } from "../faults/wait.ts";
import { ended, wrote } from "../support/client.ts";
import { toLines, writeBelow } from "./home.ts";
import { claudeLines } from "./sessions.ts";
import { claudePath, makeId, world } from "./world.ts";

const key = `claude-code/${makeId(1)}`;
const lines = claudeLines(makeId(1), 10);
const state = ".local/state/spoor";

/** A world with the first lines of session 1, and what was sent of it: how many messages, and after how many. */
async function begun(count: number, options: Parameters<typeof world>[1] = {}) {
  const made = await world(0, options);
  const path = await writeBelow(made.home, claudePath(1), toLines(...lines.slice(0, count)));
  const sent = () =>
    made.fake.uploads.flatMap(({ traces }) => traces.map(({ append, messages }) => [append?.count, messages.length]));
  const watch = () => {
    const watching = made.start(["watch"]);
    const done = ended(watching);
    onTestFinished(async () => {
      watching.kill("SIGINT");
      await done;
    });
    return watching;
  };
  const stored = (messages: number) => until(20, `${messages} messages`, () => made.fake.archive.get(key) === messages);
  return { ...made, path, sent, watch, stored };
}

test("two that watch, and pushes beside them, send each message once", { timeout: 60_000 }, async () => {
  const { path, watch, sent, push, stored } = await begun(4);
  await Promise.all([watch(), watch()].map((one) => wrote(one, /Watching/)));
  for (const [at, line] of lines.slice(4, 24).entries()) {
    await appendFile(path, toLines(line));
    if (at % 10 === 0) expect(await push()).toMatchObject({ code: 0, left: [] });
    await sleep(50);
  }
  await stored(24);
  expect((await push()).sent.sessions).toBe(0);
  const [first, ...rest] = sent();
  expect(first?.[0]).toBeUndefined();
  let count = first?.[1] ?? 0;
  for (const [after, messages = 0] of rest) {
    expect(after).toBe(count);
    count += messages;
  }
  expect(count).toBe(24);
});

test("a state folder that is deleted or made old under watch costs bytes at most", async () => {
  const { path, watch, home, sent, stored } = await begun(4);
  await wrote(watch(), /1 new/);
  // The client may be writing there meanwhile.
  const remove = () => rm(join(home, state), { recursive: true, maxRetries: 10, retryDelay: 20 });
  const copy = (from: string, to: string) =>
    vi.waitFor(() => cp(join(home, from), join(home, to), { recursive: true }), { timeout: 5000 });
  await copy(state, "old");
  await remove();
  await appendFile(path, toLines(...lines.slice(4, 8)));
  await stored(8);
  await remove();
  await copy("old", state);
  await appendFile(path, toLines(...lines.slice(8, 12)));
  await stored(12);
  // What comes after it is sent whole if the sender has ended meanwhile, and appended otherwise.
  expect(sent()[0]).toEqual([undefined, 4]);
  for (const [after, messages = 0] of sent().slice(1)) expect([4, 8, 12]).toContain((after ?? 0) + messages);
});

test("a push that is killed between two parts is not waited for, and the next one goes on where it ended", async () => {
  let status = "succeeded";
  const { start, sent, push, fake, stored } = await begun(40, {
    limits: { messagesPerTrace: 10 },
    job: () => ({ status }),
  });
  fake.failWith(({ method, url }) => {
    if (method === "POST" && url === "/api/ingest" && fake.uploads.length === 2) status = "running";
    return undefined;
  });
  const pushing = start(["push"]);
  const done = ended(pushing);
  await until(20, "three parts", () => fake.uploads.length === 3);
  pushing.kill("SIGKILL");
  await done;
  status = "succeeded";
  const startedAt = performance.now();
  expect(await push()).toMatchObject({ code: 0, left: [] });
  expect(performance.now() - startedAt).toBeLessThan(20_000);
  await stored(40);
  expect(sent().reduce((sum, [, messages = 0]) => sum + messages, 0)).toBe(40);
});
