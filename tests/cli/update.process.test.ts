import { readdir, readFile, stat, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { compareVersions } from "../../cli/update/release.ts";
import { ended } from "../support/client.ts";
import { isLong } from "../support/long.ts";
import { bundle, makeMachine, startReleases } from "./machine.ts";

const [client, newer, broken] = [await bundle("1.2.0"), await bundle("1.10.0"), "throw new Error('no')\n"];

/** A machine that is logged in, with the client of a server that now has a newer one. */
async function world() {
  const releases = await startReleases(client, "1.2.0");
  const delivered = (text: string, url = releases.url) => text.replaceAll("@SPOOR_SERVER@", url);
  const machine = await makeMachine(delivered(client));
  await machine.run(["login"]);
  releases.deliver(newer, "1.10.0");
  releases.requests.length = 0;
  releases.tokens.length = 0;
  const version = async () => (await machine.run(["--version"])).output.trim();
  const isUntouched = async () => (await readFile(machine.file, "utf8")) === delivered(client);
  return { releases, delivered, version, isUntouched, ...machine };
}

describe("spoor update", () => {
  test("takes a newer client, keeps its mode, and is up to date then; it sends no token", async () => {
    const { releases, run, version, file, home, delivered } = await world();
    await writeFile(join(home, ".spoor-0123456789ab.mjs"), "left behind by a kill");
    await utimes(join(home, ".spoor-0123456789ab.mjs"), 1, 1);
    const { mode } = await stat(file);
    const check = await run(["update", "--check"]);
    expect([check.code, check.output]).toEqual([0, expect.stringContaining("a newer version: 1.10.0 (this is 1.2.0)")]);
    const ran = await run(["update", "--json"]);
    expect([ran.code, JSON.parse(ran.output)]).toMatchObject([0, { outcome: "updated", from: "1.2.0", to: "1.10.0" }]);
    expect(await readFile(file, "utf8")).toBe(delivered(newer));
    expect([await version(), (await stat(file)).mode]).toEqual(["1.10.0", mode]);
    expect((await readdir(home)).filter((name) => name.startsWith(".spoor-"))).toEqual([]);
    const again = await run(["update"]);
    expect([again.code, again.output]).toEqual([0, expect.stringContaining("delivers version 1.10.0.")]);
    expect(releases.tokens).toEqual([]);
  });

  test("refuses a file that was tampered with, cut off, or is longer, and one that is not described", async () => {
    const { releases, run, isUntouched, delivered } = await world();
    const text = delivered(newer);
    const { sha256 } = await import("#lib/core/digest");
    const truth = { version: "1.10.0", sha256: sha256(text).toString("hex"), bytes: Buffer.byteLength(text) };
    const cases: [string, string, object | null][] = [
      ["its SHA-256 is another one", newer.replace("export", "EXPORT").replace("const ", "CONST "), truth],
      ["bytes instead of", newer.slice(0, -1), truth],
      ["it has more bytes", `${newer} `, truth],
      ["does not publish the SHA-256", newer, null],
      ["does not publish the SHA-256", newer, { ...truth, sha256: "x" }],
    ];
    for (const [message, delivery, release] of cases) {
      Object.assign(releases, { text: delivery, release });
      const { code, errors } = await run(["update"]);
      expect([code, errors]).toEqual([1, expect.stringContaining(message)]);
      expect(await isUntouched()).toBe(true);
    }
  });

  test("refuses a client that does not run here", async () => {
    const { releases, run, isUntouched } = await world();
    releases.deliver(broken, "1.10.0");
    const { code, errors } = await run(["update"]);
    expect([code, errors]).toEqual([1, expect.stringContaining("Version 1.10.0 does not run on Node")]);
    expect(await isUntouched()).toBe(true);
  });

  test("takes nothing from another origin: not from one without a login, not behind a redirect, not from another login's", async () => {
    const { releases, run, isUntouched } = await world();
    const other = await startReleases(newer, "9.0.0");
    const unknown = await run(["update", "--server", other.url]);
    expect([unknown.code, unknown.errors]).toEqual([3, expect.stringContaining(`not logged in to ${other.url}`)]);
    await run(["login", "--server", other.url]);
    const second = await run(["update", "--server", other.url]);
    expect([second.code, second.errors]).toEqual([2, expect.stringContaining(`does not update from ${other.url}`)]);
    expect(other.requests).not.toContain("GET /spoor.mjs");
    releases.redirect = `${other.url}/spoor.mjs`;
    const led = await run(["update"]);
    expect([led.code, led.errors]).toEqual([1, expect.stringContaining(`a redirect to ${other.url}`)]);
    expect(other.requests).not.toContain("GET /spoor.mjs");
    expect(await isUntouched()).toBe(true);
  });

  test("takes an older client only where that is agreed to", async () => {
    const { releases, run, version, isUntouched } = await world();
    releases.deliver(newer.replaceAll("1.10.0", "1.1.9"), "1.1.9");
    const refused = await run(["update"]);
    expect([refused.code, refused.errors]).toEqual([2, expect.stringContaining("Install it with --allow-older")]);
    expect(await isUntouched()).toBe(true);
    expect((await run(["update", "--allow-older"])).code).toBe(0);
    expect(await version()).toBe("1.1.9");
  });

  test("that is killed at any moment leaves a client that runs, the old one or the new one", async () => {
    const { run, version, start, file, home, delivered } = await world();
    let hasOld = 0;
    for (let milliseconds = 40; milliseconds < 340; milliseconds += isLong ? 60 : 150) {
      await writeFile(file, delivered(client));
      const updating = start([process.execPath, file, "update"]);
      const gone = ended(updating);
      await sleep(milliseconds);
      updating.kill("SIGKILL");
      await gone;
      const found = await version();
      expect(["1.2.0", "1.10.0"]).toContain(found);
      if (found === "1.2.0") hasOld++;
    }
    expect(hasOld).toBeGreaterThan(0);
    await writeFile(file, delivered(client));
    expect((await run(["update"])).code).toBe(0);
    expect(await version()).toBe("1.10.0");
    // Drafts of a kill are young here: they go with the next update in an hour.
    for (const name of await readdir(home)) if (name.startsWith(".spoor-")) await utimes(join(home, name), 1, 1);
    await writeFile(file, delivered(client));
    await run(["update"]);
    expect((await readdir(dirname(file))).filter((name) => name.startsWith(".spoor-"))).toEqual([]);
  });
});

test("versions are compared by their numbers", () => {
  const sorted = ["0.9.9", "1.0.0-alpha", "1.0.0-beta", "1.0.0", "1.2.0", "1.10.0", "2.0.0"];
  for (const [index, one] of sorted.entries()) {
    for (const [other, two] of sorted.entries())
      expect(Math.sign(compareVersions(one, two) ?? NaN)).toBe(Math.sign(index - other));
  }
  expect(compareVersions("source", "1.0.0")).toBeUndefined();
});
