import { expect, test, vi } from "vitest";
import { ingestTrace } from "#lib/ingest/schema";
import type { Adapter, Host } from "../../cli/adapters/adapter.ts";
import { adapters } from "../../cli/adapters/registry.ts";
import { exitCodes } from "../../cli/errors.ts";
import { isLong } from "../support/long.ts";
import { type Parsed, parseAll, writeBelow } from "./home.ts";
import { pushInside, worldInside } from "./inside.ts";
import { homes, wholes } from "./samples/all.ts";
import {
  damages,
  findBytes,
  futureVersions,
  missingFields,
  strange,
  unknownTypes,
  wrongTypes,
} from "./samples/drift.ts";
import { changingHome, fillHome, type Home } from "./samples/home.ts";
import { expectSendable } from "./sendable.ts";

vi.setConfig({ testTimeout: 120_000 });

/** Reads as the client does: an input that can't be read is told, and the others are read. */
async function readAll(name: string, host: Host): Promise<Parsed & { failed: string[] }> {
  const adapter = adapters.find((one) => one.name === name) as Adapter;
  const failed: string[] = [];
  const telling: Adapter = {
    ...adapter,
    getSearchRoots: (...given) => adapter.getSearchRoots(...given),
    discover: (...given) => adapter.discover(...given),
    parse: (input, sink) => adapter.parse(input, sink).catch((error: Error) => void failed.push(error.message)),
  };
  return { ...(await parseAll(telling, host)), failed };
}

/** Reads each home in turn. @returns what was told of it */
async function readEach(name: string, all: Home[]) {
  const found: Parsed[] = [];
  const { host, become } = await changingHome();
  for (const home of all) {
    become(home);
    const parsed = await readAll(name, host);
    expectSendable(parsed);
    expect(parsed.failed.filter((message) => !/no such (?:table|column)/.test(message))).toEqual([]);
    found.push(parsed);
  }
  return found;
}

/** Formats that are text for people, and sessions of any source, have no names of types; other text is no session. */
const isPlain = (name: string, form: string) => form === "a text" || name === "jsonl";

test.each(homes)("%s, %s: unknown types are counted by their names", async (name, form, home) => {
  const found = await readEach(name, unknownTypes(home));
  if (isPlain(name, form)) return;
  expect(found.flatMap(({ unhandled }) => unhandled).some((type) => /hologram|\(none\)/.test(type))).toBe(true);
});

test.each(homes)("%s, %s: newer versions and fields that nobody knows change nothing", async (name, _, home) => {
  const [before] = await readEach(name, [home]);
  for (const after of await readEach(name, futureVersions(home)))
    expect(after.sessions.map(({ messages }) => messages.map(({ content }) => content))).toEqual(
      before?.sessions.map(({ messages }) => messages.map(({ content }) => content)),
    );
});

// The fields of homes that are one log are changed one by one in readings.test.ts.
test.each(wholes)("%s, %s: a field that is missing ends nothing", async (name, _, home) => {
  await readEach(name, missingFields(home));
});

test.each(wholes)("%s, %s: a field of another type ends nothing", async (name, _, home) => {
  await readEach(name, wrongTypes(home));
});

/** Of files that are told apart by a number only, one. */
const onceEach = (paths: string[]): string[] => [
  ...new Map(paths.map((path) => [path.replace(/\d/g, ""), path])).values(),
];

// Of several files each has every second damage, and all of them in long tests.
test.each(homes)("%s, %s: files that are empty, cut off or rubbish end nothing", async (name, form, home) => {
  const whole = findBytes(home);
  const { host, become } = await changingHome();
  const paths = onceEach(Object.keys(whole));
  for (const [index, [what, damage]] of damages.entries()) {
    for (const path of paths.filter((_, at) => isLong || paths.length === 1 || (at + index) % 2 === 0)) {
      const text = Buffer.from(whole[path]?.toString("latin1").replaceAll("$HOME", host.home) ?? "", "latin1");
      become({ files: { ...whole, [path]: damage(text) } });
      const parsed = await readAll(name, host);
      expectSendable(parsed);
      const told = [parsed.failed, parsed.lost, parsed.unhandled, parsed.invalid].flat().length;
      if (what === "binary rubbish" && Object.keys(whole).length === 1 && !isPlain(name, form))
        expect([what, told > 0]).toEqual([what, true]);
    }
  }
});

/** What becomes of every agent's home at once. */
const together: [name: string, drift: (home: Home) => Home[]][] = [
  ["unknown types", unknownTypes],
  ["newer versions", futureVersions],
  ["missing fields", missingFields],
  ["fields of other types", wrongTypes],
];

async function expectHealthySent(fake: Awaited<ReturnType<typeof worldInside>>["fake"], host: Host): Promise<void> {
  const { code } = await pushInside(host, { yes: true });
  expect([exitCodes.done, exitCodes.leftOut]).toContain(code);
  const traces = fake.uploads.flatMap((upload) => upload.traces);
  expect(traces.filter(({ source }) => source === "claude-code").length).toBeGreaterThan(0);
  for (const trace of traces.filter(({ source }) => source !== "own"))
    expect(ingestTrace.safeParse(trace).error?.issues).toBeUndefined();
}

test.each(together)("a push of all agents with %s sends what is whole", async (_, drift) => {
  const { fake, host } = await worldInside(2);
  for (const [, , home] of homes) {
    const all = drift(home);
    fillHome(host, all[Math.floor(all.length / 2)] ?? home);
  }
  await expectHealthySent(fake, host);
  if (drift === unknownTypes) expect(JSON.stringify(fake.telemetry)).toContain(strange);
});

/** Cut off nearly at their end, or in their middle, files have most of what those have that end sooner. */
const isQuick = ([what]: (typeof damages)[number]) => isLong || !/at 0\.[19]$/.test(what);

test.each(damages.filter(isQuick))(
  "a push of all agents whose files are each %s sends what is whole",
  async (_, damage) => {
    const { fake, host } = await worldInside(2);
    for (const [, , home] of homes)
      for (const [path, bytes] of Object.entries(findBytes(home))) await writeBelow(host.home, path, damage(bytes));
    await expectHealthySent(fake, host);
  },
);
