import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { takeTurn } from "../../cli/sync/turn.ts";
import { makeHome } from "./home.ts";

// A full disk has room for a file's name, and none for what is in it.
vi.mock("node:fs/promises", async (load) => {
  const real = await load<typeof import("node:fs/promises")>();
  const writeFile: typeof real.writeFile = async (path, _, options) => {
    await real.writeFile(path, "", options);
    throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
  };
  return { ...real, writeFile };
});

test("on a full disk nobody waits for a turn", async () => {
  const { home } = await makeHome();
  const onWait = vi.fn();
  const options = { signal: new AbortController().signal, onWait };
  for (const turn of [1, 2]) expect(await takeTurn(join(home, "x.sending"), options, async () => turn)).toBe(turn);
  expect(onWait).not.toHaveBeenCalled();
  expect(await readdir(home)).toEqual([]);
});
