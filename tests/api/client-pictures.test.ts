import { appendFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { linesOf, makeHome, writeBelow } from "../cli/home.ts";
import { runInProcess } from "../cli/in-process.ts";
import { makePng } from "../support/pictures.ts";
import { get, logIn, makeUser, provideServer } from "../support/server.ts";

const server = await provideServer();
const token = await logIn(server, await makeUser(), "pictures");

const id = "00000000-0000-4000-8000-000000000001";
const line = (number: number, content: unknown) => ({
  type: "user",
  sessionId: id,
  cwd: "/home/ada/code/api",
  uuid: `00000000-0000-4000-9000-00000000000${number}`,
  timestamp: `2026-11-02T10:00:0${number}.000Z`,
  message: { role: "user", content },
});
const image = ({ bytes, mediaType }: ReturnType<typeof makePng>) => ({
  type: "image",
  source: { type: "base64", media_type: mediaType, data: bytes.toString("base64") },
});

test("a picture in an agent's file can be read from the session that the client sent, and is sent once", async () => {
  const { home } = await makeHome();
  const [pasted, returned, later] = [makePng(), makePng({ extra: 300_000 }), makePng()];
  const result = { type: "tool_result", tool_use_id: "c1", content: [image(returned)] };
  const path = await writeBelow(
    home,
    `.claude/projects/-home-ada-code-api/${id}.jsonl`,
    linesOf(line(0, "Look at it"), line(1, [image(pasted)]), line(2, [result])),
  );
  const push = async () => {
    const environment = { SPOOR_URL: server.url, SPOOR_TOKEN: token };
    const { code, output, errors } = await runInProcess(["push", "--json"], home, environment);
    expect([code, errors]).toEqual([0, ""]);
    return JSON.parse(output).sent;
  };
  expect(await push()).toMatchObject({ sessions: 1, pictures: 2, refusedPictures: 0 });
  await appendFile(path, linesOf(line(3, [image(later), image(pasted)])));
  expect(await push()).toMatchObject({ sessions: 1, pictures: 1 });
  const { traces } = await (await get(server, "/api/traces", token)).json();
  for (const { bytes, sha256, mediaType } of [pasted, returned, later]) {
    const answer = await get(server, `/api/traces/${traces[0].id}/pictures/${sha256}`, token);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, mediaType]);
    expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true);
  }
});
