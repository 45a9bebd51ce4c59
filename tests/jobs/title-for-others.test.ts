import { expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { runJob } from "#lib/ingest/process/run-job";
import { githubMarkdown } from "#lib/traces/export/github";
import { getTraceRow } from "#lib/traces/queries";
import { getTitleForOthers } from "#lib/traces/title-for-others";
import { accept } from "../support/ingesting.ts";
import { provideOwner } from "../support/server.ts";

const { userId } = await provideOwner();
const key = ["ghp", "_", "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY1zA2"].join("");
await pool().query("insert into secret_policy (user_id, masks) values ($1, false)", [userId]);

const said = [
  ["user", "Plan the secret launch of the new product"],
  ["assistant", "I shall write the plan."],
  ["user", `Fix the parser of dates with ${key} in /home/ada/api`],
  ["assistant", "Done, the parser reads dates now"],
  ["user", ""],
] as const;

async function store(sourceId: string, title?: string): Promise<string> {
  const messages = said.map(([role, content], position) => ({ position, role, content }));
  await runJob({ userId, jobId: await accept(userId, { sourceId, title, messages }) });
  const { rows } = await pool().query("select id from trace where source_id = $1", [sourceId]);
  return rows[0].id;
}

async function titles(id: string, from: number | null, to: number | null, masked = true) {
  const trace = await getTraceRow(userId, id);
  const title = await getTitleForOthers(userId, trace, { from, to, masked });
  const [first = ""] = (await githubMarkdown(userId, trace, { from, to, masked })).split("\n");
  expect(first).toBe(`### ${title}`);
  return title;
}

test("a part of a session is called by its own words, whatever the session is called", async () => {
  for (const id of [await store("derived"), await store("agent's", "Secret launch plan")]) {
    const part = "Fix the parser of dates with [redacted:github] in ~/api";
    expect(await titles(id, 2, null)).toBe(part);
    expect(await titles(id, 1, 3)).toBe(part);
    expect(await titles(id, 2, 3, false)).toBe(`Fix the parser of dates with ${key}…`);
    expect(await titles(id, null, 1)).toBe("Plan the secret launch of the new product");
    expect(await titles(id, 3, 3)).toBe("Done, the parser reads dates now");
    expect(await titles(id, 4, 4)).toBe("A part of a session");
    expect(await titles(id, null, null)).toMatch(/launch/);
  }
});

test("a part of a session whose owner named it has that name", async () => {
  const id = await store("named");
  await pool().query("update trace set custom_title = 'Dates in /home/ada' where id = $1", [id]);
  for (const from of [null, 2]) expect(await titles(id, from, null)).toBe("Dates in ~");
});

test("a title that is made of messages has no secret, however it is cut and whatever its blanks were", async () => {
  const value = "WDnN3pIeDgfhpOVwKf31H9WS";
  const fine = ["github", "_pat_", key.slice(4, 26), "_", key.slice(4), key.slice(4, 27)].join("");
  const cookie = "lUsh06Qjg7sPT6sFgxaY2Qva7lYnoa6P8V4sDinvsGM";
  for (const [name, text] of [
    ["cut", `${"word ".repeat(93)}deploy --api-token ${value} and so on for all services`],
    ["half", `${"word ".repeat(90)}${fine} and so on`],
    ["blanks", `see .a.internal\tTRUE\t/\tTRUE\t1790000000\tsession_token\t${cookie}\n`],
  ] as const) {
    await runJob({
      userId,
      jobId: await accept(userId, { sourceId: name, messages: [{ position: 0, role: "user", content: text }] }),
    });
    const { rows } = await pool().query("select id, derived_title as title from trace where source_id = $1", [name]);
    const shown = [rows[0].title, await titles(rows[0].id, null, null)];
    for (const title of shown) {
      expect(title).toMatch(/^(?:word word|See )/i);
      expect(
        [value, cookie, fine].filter((one) => title.includes(one.slice(0, 24))),
        name,
      ).toEqual([]);
    }
  }
});
