import { uptime } from "node:os";
import { expect, test } from "vitest";
import { findRunningPid, readBoot, saveState } from "../../cli/service/state.ts";
import { makeHome } from "./home.ts";

const state = { pid: process.pid, version: "1", server: "http://localhost:3000" };
const now = () => new Date().toISOString();
/** The clock showed this before it was set forward, past the system's start. */
const longAgo = () => new Date(Date.now() - uptime() * 1000 - 3_600_000).toISOString();

test.skipIf(process.platform !== "linux")(
  "a service runs on where the clock was set forward, and not where the system has started again",
  async () => {
    const host = await makeHome();
    const boot = await readBoot();
    if (!boot) throw new Error("Linux names no start of the system");
    await saveState(host, { ...state, startedAt: longAgo(), boot });
    expect(await findRunningPid(host)).toBe(process.pid);
    await saveState(host, { ...state, startedAt: now(), boot: "another" });
    expect(await findRunningPid(host)).toBeUndefined();
  },
);

test("where the start of the system has no name, a state from before it is stale", async () => {
  const host = await makeHome();
  await saveState(host, { ...state, startedAt: longAgo() });
  expect(await findRunningPid(host)).toBeUndefined();
  await saveState(host, { ...state, startedAt: now() });
  expect(await findRunningPid(host)).toBe(process.pid);
});
