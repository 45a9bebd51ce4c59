import { appendFile, utimes, writeFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { config } from "../../cli/commands/config.ts";
import { scan } from "../../cli/commands/scan.ts";
import { longTest } from "../support/long.ts";
import { toLines, writeBelow } from "./home.ts";
import { pushInside, runInside, worldInside } from "./inside.ts";
import { makePicture } from "./picture.ts";
import { claudeLines } from "./sessions.ts";
import { claudePath, makeId, problem } from "./world.ts";

const [one, two, three] = [makePicture(1), makePicture(2), makePicture(3)];

/** Lines in which somebody pasted pictures, one a message. */
const pastedLines = (number: number, pictures: (typeof one)[], { cwd = "/home/ada/code/api", from = 0 } = {}) =>
  toLines(
    ...pictures.map(({ block }, index) => ({
      type: "user",
      sessionId: makeId(number),
      cwd,
      uuid: `00000000-0000-4000-9000-00000000000${from + index}`,
      timestamp: `2026-11-02T10:00:0${from + index}.000Z`,
      message: { role: "user", content: [block] },
    })),
  );

const pasted = (number: number, pictures: (typeof one)[], cwd?: string) =>
  toLines(...claudeLines(makeId(number), 1, cwd ? { cwd } : {})) + pastedLines(number, pictures, cwd ? { cwd } : {});

async function picturesWorld(pictures = [one, two], options: Parameters<typeof worldInside>[1] = {}) {
  const world = await worldInside(0, options);
  const path = await writeBelow(world.home, claudePath(1), pasted(1, pictures));
  const messages = () => world.fake.uploads.flatMap(({ traces }) => traces).flatMap((trace) => trace.messages);
  const named = () => messages().flatMap(({ metadata }) => metadata?.pictures ?? []);
  const asked = () => world.fake.requests.filter((line) => line.includes("/api/pictures/"));
  return { ...world, path, messages, named, asked };
}

const changed = (path: string) => utimes(path, new Date(), new Date());

describe("pictures", () => {
  test("are stored before the batch that names them, whose texts have placeholders", async () => {
    const { fake, host, messages, named } = await picturesWorld();
    expect(await pushInside(host)).toMatchObject({ code: 0, sent: { sessions: 1, pictures: 2, pictureBytes: 4000 } });
    expect([...fake.pictures]).toEqual(
      [one, two].map(({ reference }) => [reference.sha256, { mediaType: "image/png", bytes: 2000 }]),
    );
    expect(named()).toEqual([one.reference, two.reference]);
    expect(messages().at(-1)?.content).toBe(two.placeholder);
    const sent = fake.requests.filter((line) => /pictures|POST .api.ingest/.test(line));
    const [put, post] = [one, two].map(({ reference }) => `PUT /api/pictures/${reference.sha256}`);
    expect(sent).toEqual(["POST /api/pictures/missing", put, post, "POST /api/ingest"]);
  });

  test("that the server has, or that were sent, are not sent again", async () => {
    const { fake, host, path, asked } = await picturesWorld([one, two, one]);
    fake.pictures.set(two.reference.sha256, { mediaType: "image/png", bytes: 2000 });
    expect(await pushInside(host)).toMatchObject({ sent: { pictures: 1 } });
    const before = asked().length;
    await appendFile(path, pastedLines(1, [one, three], { from: 3 }));
    expect(await pushInside(host)).toMatchObject({ sent: { sessions: 1, pictures: 1 } });
    expect(asked().slice(before)).toEqual([
      "POST /api/pictures/missing",
      `PUT /api/pictures/${three.reference.sha256}`,
    ]);
  });

  test("of a push that was interrupted are sent with the next one, once each", async () => {
    const { fake, host, named } = await picturesWorld();
    fake.failWith(({ url }) => (url?.endsWith(two.reference.sha256) ? problem(401) : undefined));
    expect((await pushInside(host)).code).not.toBe(0);
    expect([fake.uploads.length, fake.pictures.has(two.reference.sha256)]).toEqual([0, false]);
    fake.failWith(({ url }) => (url === "/api/ingest" ? problem(401) : undefined));
    await pushInside(host);
    fake.failWith(() => undefined);
    expect(await pushInside(host)).toMatchObject({ code: 0, sent: { sessions: 1, pictures: 0 } });
    expect([fake.pictures.size, named().length]).toEqual([2, 2]);
  });

  test("that a server refuses keep nothing from being sent", async () => {
    const { fake, host, named } = await picturesWorld();
    fake.failWith(({ method, url }) =>
      method === "PUT" && url?.endsWith(one.reference.sha256) ? problem(413) : undefined,
    );
    expect(await pushInside(host)).toMatchObject({ code: 0, sent: { sessions: 1, pictures: 1, refusedPictures: 1 } });
    expect(named()).toHaveLength(2);
  });

  test("are not sent to a server that knows none, and are once it does", async () => {
    const { fake, host, named, asked } = await picturesWorld([one, two], { takesPictures: false });
    expect(await pushInside(host)).toMatchObject({ code: 0, errors: "", sent: { sessions: 1, pictures: 0 } });
    expect([named().length, asked()]).toEqual([2, ["POST /api/pictures/missing"]]);
    expect(await pushInside(host)).toMatchObject({ same: 1, sent: { sessions: 0 } });
    fake.takePictures();
    expect(await pushInside(host)).toMatchObject({ sent: { sessions: 1, pictures: 2 } });
    expect(fake.uploads.map(({ traces }) => traces[0]?.append)).toEqual([undefined, undefined]);
    const before = asked().length;
    expect(await pushInside(host)).toMatchObject({ same: 1, sent: { pictures: 0 } });
    expect(asked().length).toBe(before);
  });

  longTest("more than fit into memory at once are all sent", async () => {
    const many = Array.from({ length: 4 }, (_, index) => makePicture(index, 5 * 1024 * 1024 - index));
    const { fake, host } = await picturesWorld(many);
    expect(await pushInside(host, { project: ["api"] })).toMatchObject({ code: 0, sent: { sessions: 1, pictures: 4 } });
    expect(fake.pictures.size).toBe(4);
  });
});

describe("of a project", () => {
  const off = async (host: Parameters<typeof runInside>[1], ...words: string[]) =>
    runInside(config, host, { words: ["pictures", ...words] });

  test("whose pictures are off none are sent, and all once they are on", async () => {
    const { fake, host, home, path } = await picturesWorld([one]);
    await writeBelow(home, claudePath(2), pasted(2, [two], "/home/ada/clients/acme"));
    expect((await off(host, "off", "/home/ada/clients/*")).output).toContain("off  for /home/ada/clients/*\n");
    expect(await pushInside(host)).toMatchObject({ sent: { sessions: 2, pictures: 1 } });
    expect([...fake.pictures.keys()]).toEqual([one.reference.sha256]);
    await changed(path);
    expect(await pushInside(host)).toMatchObject({ same: 2, sent: { sessions: 0, pictures: 0 } });
    await off(host, "on");
    expect(await pushInside(host)).toMatchObject({ same: 1, sent: { sessions: 1, pictures: 1 } });
    expect([...fake.pictures.keys()]).toContain(two.reference.sha256);
  });

  test("the last rule that matches counts, and on is the default", async () => {
    const { host } = await worldInside(0);
    const rules = async (...words: string[]) =>
      JSON.parse((await runInside(config, host, { words: ["pictures", ...words], values: { json: true } })).output)
        .pictures;
    expect(await rules("on", "api")).toEqual([]);
    expect(await rules("off")).toEqual([{ exclude: "**" }]);
    expect(await rules("on", "api")).toEqual([{ exclude: "**" }, { include: "api" }]);
    expect((await off(host)).output).toBe(
      "pictures  off  pictures that were pasted, or returned by tools, are not sent\n          on   for api\n",
    );
    expect(await rules("on")).toEqual([]);
  });
});

test("a scan and a dry run tell how many pictures would be sent", async () => {
  const { fake, host, home } = await picturesWorld([one, two, one]);
  await writeBelow(home, claudePath(2), pasted(2, [two, three], "/home/ada/clients/acme"));
  await runInside(config, host, { words: ["pictures", "off", "/home/ada/clients/*"] });
  const count = { pictures: 2, pictureBytes: 4000 };
  for (let time = 0; time < 2; time++) {
    const { output } = await runInside(scan, host, { values: { "no-telemetry": true, json: true } });
    expect(JSON.parse(output)).toMatchObject(count);
  }
  expect((await runInside(scan, host, { values: { "no-telemetry": true } })).output).toContain(
    "2 pictures (3.9 KiB) would be sent with them.\n",
  );
  expect(await pushInside(host, { "dry-run": true })).toMatchObject(count);
  expect(fake.pictures.size).toBe(0);
  await pushInside(host);
  expect(await pushInside(host, { "dry-run": true })).toMatchObject({ pictures: 0 });
});

test("masking leaves references and pictures as they are", async () => {
  const { host, path, named } = await picturesWorld([]);
  const told = toLines(...claudeLines(makeId(1), 1, { text: `api_token=${one.reference.sha256}` }));
  await writeFile(path, told + pastedLines(1, [one]));
  await pushInside(host);
  expect(named()).toEqual([one.reference]);
});
