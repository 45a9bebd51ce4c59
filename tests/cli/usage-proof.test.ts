import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { usageHome } from "../proof/home.ts";
import { proved } from "../proof/proved.ts";
import { ourSums } from "../proof/sums.ts";
import { makeHome, writeBelow } from "./home.ts";

test("a home of several agents has the tokens and the money that were proved with other tools", async () => {
  const host = await makeHome();
  for (const [path, content] of usageHome()) {
    await writeBelow(host.home, path, content);
    await sleep(20); // of two files with the same lines the older one is the original
  }
  const sums = [...(await ourSums(host))].map(([key, { input, output, cacheRead, cacheWrite, nano }]) => [
    key,
    [input, output, cacheRead, cacheWrite, nano],
  ]);
  expect(Object.fromEntries(sums)).toEqual(proved);
});
