import { mkdir, rm } from "node:fs/promises";
import { expect, test } from "vitest";
import { forgetTroubles, getTroublesPath, noteTrouble, readTroubles } from "../../cli/service/troubles.ts";
import { makeHome } from "./home.ts";

test("a trouble that can't be written down ends nothing, and one that can is known until it is over", async () => {
  const host = await makeHome();
  await mkdir(getTroublesPath(host), { recursive: true });
  await noteTrouble(host, "unreachable", "The server is away.");
  expect(await readTroubles(host)).toEqual([]);

  await rm(getTroublesPath(host), { recursive: true });
  await noteTrouble(host, "unreachable", "The server is away.");
  await noteTrouble(host, "unreachable", "The server is still away.");
  expect(await readTroubles(host)).toMatchObject([
    { cause: "unreachable", message: "The server is still away.", times: 2 },
  ]);
  await forgetTroubles(host, ["quota"]);
  expect(await readTroubles(host)).toHaveLength(1);
  await forgetTroubles(host, ["unreachable"]);
  expect(await readTroubles(host)).toEqual([]);
});
