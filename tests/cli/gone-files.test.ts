import { rename } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { claudeCode } from "../../cli/adapters/claude-code/adapter.ts";
import { scan } from "../../cli/commands/scan.ts";
import { toLines, writeBelow } from "./home.ts";
import { pushInside, runInside, worldInside } from "./inside.ts";
import { claudeLines } from "./sessions.ts";
import { claudePath, makeId } from "./world.ts";

afterEach(() => void vi.restoreAllMocks());

/** Has something happen before the reading of a file with this number, from 1. */
function beforeReading(number: number, happen: () => Promise<void>): void {
  const { parse } = claudeCode;
  let readings = 0;
  vi.spyOn(claudeCode, "parse").mockImplementation(async (input, sink) => {
    if (++readings === number) await happen();
    return parse.call(claudeCode, input, sink);
  });
}

describe("a file that is gone when it is to be read", () => {
  test("is sent, and counted, once it is back, also where nothing of it has changed", async () => {
    const { host, home, fake } = await worldInside(1);
    const [path, aside] = [join(home, claudePath(1)), join(home, "aside")];
    const readCount = async () => {
      const { output } = await runInside(scan, host, { values: { json: true, "no-telemetry": true } });
      return JSON.parse(output).adapters["claude-code"].sessions;
    };
    beforeReading(1, () => rename(path, aside));
    expect(await readCount()).toBe(0);
    await rename(aside, path);
    expect(await readCount()).toBe(1);
    vi.restoreAllMocks();
    beforeReading(1, () => rename(path, aside));
    expect(await pushInside(host)).toMatchObject({ code: 0, sent: { sessions: 0 } });
    await rename(aside, path);
    expect(await pushInside(host)).toMatchObject({ code: 0, sent: { sessions: 1 } });
    expect(fake.archive.size).toBe(1);
  });
});

describe("a session whose earlier messages have changed, and that can't be read a second time", () => {
  test.each([
    ["EIO", 5, 1],
    ["ENOENT", 0, 0],
  ])("(%s) is sent by the next push", async (code, exitCode, left) => {
    const { host, home, fake } = await worldInside(1);
    await pushInside(host);
    await writeBelow(home, claudePath(1), toLines(...claudeLines(makeId(1), 3, { text: "Another text" })));
    beforeReading(2, () => Promise.reject(Object.assign(new Error(`${code}: a fault`), { code })));
    const failed = await pushInside(host);
    expect([failed.code, failed.sent.sessions, failed.left.length]).toEqual([exitCode, 0, left]);
    vi.restoreAllMocks();
    expect(await pushInside(host)).toMatchObject({ code: 0, sent: { sessions: 1 } });
    expect(fake.uploads).toHaveLength(2);
  });
});
