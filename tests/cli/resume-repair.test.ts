import { readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { resume } from "../../cli/commands/resume.ts";
import { makeHome, toLines } from "./home.ts";
import { runInside } from "./inside.ts";

const id = "6f1c0000-0000-4000-8000-000000000001";
const file = `.claude/projects/-home-ada-api/${id}.jsonl`;
const user = (uuid: string, parentUuid: string | null, content: unknown = "Go on.") => ({
  ...{ type: "user", uuid, parentUuid, message: { role: "user", content } },
});
const said = (uuid: string, parentUuid: string, ...content: object[]) => ({
  ...{ type: "assistant", uuid, parentUuid, message: { role: "assistant", content } },
});
const thought = (signature?: string) => ({ type: "thinking", thinking: "Hm.", ...(signature && { signature }) });
const text = { type: "text", text: "Said." };
const refusal = (uuid: string, parentUuid: string, place: string) => ({
  ...said(uuid, parentUuid, {
    type: "text",
    text: `API Error: 400 {"error":{"message":"${place}: thinking block is bound to a different conversation"}}`,
  }),
  isApiErrorMessage: true,
});

async function mend(content: string, values: Record<string, boolean> = {}) {
  const host = await makeHome({ [file]: content });
  const { code, message } = await runInside(resume, host, {
    words: [id],
    values: { repair: true, json: true, ...values },
  });
  const names = await readdir(dirname(join(host.home, file)));
  const copy = names.find((name) => name.includes(".before-repair-"));
  const read = (name: string) => readFile(join(dirname(join(host.home, file)), name), "utf8");
  return { code, message, names, text: await read(`${id}.jsonl`), copy: copy && (await read(copy)) };
}

const links = (content: string) =>
  content
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line))
    .map(({ uuid, parentUuid }) => [uuid, parentUuid]);

/** Its first lines are written as no serializer writes them. */
const kept = `{"type": "user", "n": 1.0, "uuid": "u1", "parentUuid": null, "message": {"role": "user", "content": "\\ud800 ü"}}
{"type": "assistant", "uuid": "a1", "parentUuid": "u1", "message": {"role": "assistant", "content": [{"type": "thinking", "thinking": "One", "signature": "s1"}]}}
{"type": "assistant", "uuid": "a2", "parentUuid": "a1", "message": {"role": "assistant", "content": [{"type": "text", "text": "Yes."}]}}
`;

test("thoughts go from the one that the API refused on, after a copy; what is before stays byte for byte", async () => {
  const rest = toLines(
    user("u2", "a2"),
    said("a3", "u2", thought("s2")),
    said("a4", "a3", thought("s3"), text),
    user("u3", "a4"),
    said("a5", "u3", thought("s4")),
    refusal("e1", "a5", "messages.3.content.0"),
  );
  const { code, text: now, copy } = await mend(kept + rest);
  expect(code).toBe(0);
  expect(copy).toBe(kept + rest);
  expect(now.startsWith(kept)).toBe(true);
  expect(now.slice(kept.length)).not.toContain('thinking":');
  expect(links(now)).toEqual([
    ["u1", null],
    ["a1", "u1"],
    ["a2", "a1"],
    ["u2", "a2"],
    ["a4", "u2"],
    ["u3", "a4"],
    ["e1", "u3"],
  ]);
});

test("a thought without its signature is bad, whatever the API says later", async () => {
  const rest = toLines(
    user("u2", "a2"),
    said("a3", "u2", thought(), text),
    user("u3", "a3"),
    said("a4", "u3", thought("s"), text),
  );
  const { text: now } = await mend(kept + rest);
  expect(now.startsWith(kept)).toBe(true);
  expect(now.slice(kept.length)).not.toContain("Hm.");
});

test("a refusal that names no place, or one without a thought, takes all thoughts", async () => {
  for (const place of ["somewhere", "messages.0.content.0", "messages.90.content.1"]) {
    const { text: now } = await mend(kept + toLines(user("u2", "a2"), refusal("e1", "u2", place)));
    expect([place, now.includes('thinking":')]).toEqual([place, false]);
    expect(links(now)[1]).toEqual(["a2", "u1"]);
  }
});

test("a session without a bad thought is left alone but for --force, and an unknown one is told", async () => {
  const untouched = await mend(kept);
  expect([untouched.code, untouched.message, untouched.text]).toEqual([1, expect.stringContaining("--force"), kept]);
  expect(untouched.names).toEqual([`${id}.jsonl`]);
  expect((await mend(kept, { force: true })).text).not.toContain('thinking":');
  const host = await makeHome();
  const run = (words: string[]) => runInside(resume, host, { words, values: { repair: true } });
  expect((await run([id])).message).toContain("no session");
  expect((await run(["../../x"])).message).toContain("not the id");
  expect((await run([])).code).toBe(2);
  await writeFile(join(host.home, "x"), "");
});
