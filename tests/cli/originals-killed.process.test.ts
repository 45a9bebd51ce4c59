import { once } from "node:events";
import { appendFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openCopy } from "../support/originals.ts";
import { toLines } from "./home.ts";
import { claudePath, makeId, world } from "./world.ts";

test("a client killed between two parts of a copy sends the others next time, and none again", async () => {
  const { fake, home, start, spawn } = await world(1);
  expect(await spawn(["originals", "on", "--yes"])).toMatchObject({ code: 0 });
  const path = join(home, claudePath(1));
  await appendFile(path, toLines({ type: "progress", sessionId: makeId(1), data: "x".repeat(100_000) }).repeat(50));
  const { handle } = fake.originals;
  const stopped = Promise.withResolvers<void>();
  let parts = 0;
  fake.originals.handle = (request, response, body) => {
    if (!request.url?.includes("/parts/") || ++parts <= 2) return handle(request, response, body);
    stopped.resolve();
    return true; // no answer
  };
  const child = start(["push", "--yes"]);
  const ended = once(child, "close");
  await stopped.promise;
  child.kill("SIGKILL");
  await ended;
  expect([fake.originals.parts.size, fake.originals.copies.size]).toEqual([2, 0]);
  fake.originals.handle = handle;
  expect(await spawn(["push", "--yes"])).toMatchObject({ code: 0, errors: "" });
  const secret =
    /^AGE-SECRET-KEY-1.*$/m.exec(await readFile(join(home, ".config/spoor/originals.key"), "utf8"))?.[0] ?? "";
  const { files, stored } = await openCopy(fake.originals, `claude-code/${makeId(1)}`, secret);
  expect([...files.values()]).toEqual([await readFile(path)]);
  expect(fake.originals.parts.size).toBe(stored.parts.length);
});
