import { appendFile, chmod, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { FolderEvents } from "../../cli/watching/folder-events.ts";
import { until } from "../faults/wait.ts";
import { makeHome, writeBelow } from "./home.ts";

/** A home whose folder `a` and what is in it are watched, `b` is not there yet, and of whose own files some are wanted. */
async function watched(isRecursive: boolean) {
  const { home } = await makeHome({ "a/deep/one.jsonl": "", "a/other/two.jsonl": "" });
  const told: string[] = [];
  const events = new FolderEvents(
    (folder, name) => told.push(join(folder, name ?? "").slice(home.length + 1)),
    isRecursive,
  );
  onTestFinished(() => events.close());
  const below = ["a", "a/deep", "b"].map((name) => join(home, name));
  const added = events.watch([home, ...below], new Set(below));
  const tells = (path: string) =>
    until(10, `${path} among ${told.join()}`, () => {
      events.check();
      return told.includes(path);
    });
  return { home, told, events, added, tells };
}

describe.each([
  ["each folder", false],
  ["trees", true],
])("a system that watches %s", (_, isRecursive) => {
  test("tells of wanted folders alone, of new ones, and of those that are replaced", async () => {
    const { home, told, tells, events } = await watched(isRecursive);
    await appendFile(join(home, "a/other/two.jsonl"), "x");
    await appendFile(join(home, "a/deep/one.jsonl"), "x");
    await tells("a/deep/one.jsonl");
    await mkdir(join(home, "a/new"));
    await tells("a/new");
    await writeBelow(home, "b/three.jsonl", "");
    await tells("b");
    await appendFile(join(home, "b/three.jsonl"), "x");
    await tells("b/three.jsonl");
    await rename(join(home, "a"), join(home, "gone"));
    await writeBelow(home, "a/deep/four.jsonl", "");
    await tells("a");
    await tells("a/deep");
    await until(10, "a line in the folder that took its place", async () => {
      await appendFile(join(home, "a/deep/four.jsonl"), "x");
      events.check();
      return told.includes("a/deep/four.jsonl");
    });
    await writeFile(join(home, "single"), "");
    await tells("single");
    expect(told.filter((path) => path.startsWith("a/other"))).toEqual([]);
  });
});

test("a folder that may not be read is told of once, and watched once it may be", async () => {
  const { home, events, told } = await watched(false);
  const path = join(home, "a/deep");
  await chmod(path, 0o000);
  await rm(join(home, "a/other"), { recursive: true });
  for (let time = 0; time < 3; time++) events.check();
  const { length } = told;
  for (let time = 0; time < 3; time++) events.check();
  expect(told).toHaveLength(length);
  await chmod(path, 0o755);
});

test("all folders are searched once more after they are first watched", async () => {
  const { home, added, events } = await watched(false);
  expect(added.map((path) => path.slice(home.length))).toEqual(["", "/a", "/a/deep"]);
  expect(events.watch([home, join(home, "a"), join(home, "a/other")], new Set())).toEqual([join(home, "a/other")]);
});
