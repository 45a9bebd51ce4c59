import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { heavyRead } from "#lib/db/heavy";
import { accountTraces } from "#lib/ledger/account";
import { answerCall } from "#lib/mcp/server";
import type { AgentReader } from "#lib/mcp/tools/tool";
import { readBlockHeads } from "#lib/search/index/sql/block-rows";
import { makeUser, provideOwner } from "../support/server.ts";
import { indexAll } from "./searching.ts";
import { getUploads } from "./uploads.ts";

/** Stands in everything of the other project, and in nothing else. */
const mark = "zanzibarium";
const otherYear = 2023;

const { userId: adaId } = await provideOwner();
/** Has the sessions of the project alone: an agent that knows of nothing else gets her answers. */
const eveId = await makeUser({ name: "Eve", email: "eve@example.org", password: "" });

type Told = { sourceId: string; metadata?: object; source?: string; year?: number; messages: object[]; title?: string };

let day = 1;
/** Each of another day: an order by time does not depend on their ids. */
const session = ({ year = 2020, source = "claude-code", metadata = {}, messages, ...rest }: Told, on = day++) => ({
  ...{ source, metadata, ...rest },
  messages: messages.map((message, position) => ({
    position,
    createdAt: `${year}-03-${String(on).padStart(2, "0")}T14:0${position}:00.000Z`,
    ...message,
  })),
});
const say = (content: string, role = "user") => ({ role, content });
const edit = (path: string) => [
  {
    role: "assistant",
    content: "Edit",
    metadata: {
      tool: {
        name: "Edit",
        callId: path,
        content: "call",
        input: { file_path: path, old_string: "a", new_string: "b" },
      },
    },
  },
  { role: "tool", content: "done", metadata: { result: { callId: path } } },
];
const api = { repository: "https://github.com/ada/api", cwd: "/home/ada/api" };
const secret = { repository: `https://github.com/ada/${mark}`, cwd: `/home/ada/${mark}` };

const known = ["first", "second", "third"].map((name, n) =>
  session({
    sourceId: name,
    title: `Mend the ${name} timer`,
    metadata: api,
    messages: [
      say(`The ${name} retry fails: TypeError: timer.unref is not a function`),
      ...edit(`/home/ada/api/src/${name}/shared.ts`),
      say(`Solved for retry number ${n}, zanzibars were not needed.`, "assistant"),
    ],
  }),
);
const child = session({
  sourceId: "child",
  metadata: { ...api, parent: `${mark}-0` },
  messages: [say("Read the timer.")],
});
const others = [0, 1, 2].map((n) =>
  session({
    sourceId: `${mark}-${n}`,
    title: `The ${mark} launch`,
    year: otherYear,
    metadata: { ...secret, branch: `${mark}-branch` },
    messages: [
      say(`TypeError: ${mark}.unref is not a function, in the retry of ${mark}ology`),
      ...edit(`/home/ada/${mark}/src/shared.ts`),
      say(`The ${mark} retry number ${n} is solved.`, "assistant"),
    ],
  }),
);

type Stored = { id: string; source_id: string; project_id: string; activity_at: Date };
const readStored = async (userId: string): Promise<Stored[]> =>
  (await pool().query("select id, source_id, project_id, activity_at from trace where user_id = $1", [userId])).rows;

const nameOfId = new Map<string, string>();
const readers = new Map<string, AgentReader>();
const ids = new Map<string, string>();

beforeAll(async () => {
  await getUploads(adaId).send(...others);
  await indexAll(); // in a block of its own
  await getUploads(adaId).send(...known, child);
  await getUploads(eveId).send(...known, child);
  await accountTraces(30);
  await indexAll();
  for (const userId of [adaId, eveId])
    for (const { id, source_id: name, project_id: projectId } of await readStored(userId)) {
      nameOfId.set(id, name);
      ids.set(`${userId} ${name}`, id);
      if (name === "first") readers.set(userId, { userId, projectId });
    }
  const { rows } = await pool().query("select from trace where parent_id = $1", [ids.get(`${adaId} ${mark}-0`)]);
  expect(rows).toHaveLength(1);
  await pool().query("update trace set note = $1, tags = $2 where title like $3", [`A ${mark}`, [mark], `%${mark}%`]);
});

/** The protocol's own client, let into the project alone. */
async function connect(userId: string): Promise<Client> {
  const reader = readers.get(userId) as AgentReader;
  const call = async (url: URL | RequestInfo, init?: RequestInit) => {
    const request = new Request(url, init);
    if (request.method !== "POST") return new Response(null, { status: 405 });
    return answerCall(request, JSON.parse(await request.clone().text()), reader);
  };
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL("http://localhost/mcp"), { fetch: call }));
  afterAll(() => client.close());
  return client;
}

async function ask(client: Client, name: string, given: object): Promise<string> {
  const { content } = await client.callTool({ name, arguments: { ...given } });
  return (content as { text: string }[])[0]?.text ?? "";
}

const cursorIn = (text: string) => /cursor "([^"]+)"/.exec(text)?.[1];

/** The answer with the pages that follow it. */
async function askAll(client: Client, name: string, given: object): Promise<string> {
  let text = await ask(client, name, given);
  let all = text;
  for (let next = cursorIn(text), pages = 0; next && pages < 10; next = cursorIn(text), pages += 1) {
    text = await ask(client, name, { ...given, cursor: next });
    all += `\n${text}`;
  }
  return all;
}

/** What may not differ between the two accounts: ids are named by their sessions, sealed cursors are left out. */
const comparable = (text: string) =>
  text
    .replace(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, (id) => nameOfId.get(id) ?? "unknown id")
    .replace(/cursor "[\w-]{20,}"/g, "cursor");

/** All that a text tells, also what is only encoded. */
const decoded = (text: string) =>
  [text, ...[...text.matchAll(/[\w-]{20,}/g)].map(([word]) => Buffer.from(word, "base64url").toString("latin1"))].join(
    "\n",
  );

function expectNothingOfOthers(text: string): void {
  const told = decoded(text);
  expect(told).not.toContain(mark);
  expect(told).not.toContain(String(otherYear));
  for (const [id, name] of nameOfId) if (name.startsWith(mark)) expect(told).not.toContain(id);
}

const forged = (...place: unknown[]) => Buffer.from(JSON.stringify(place)).toString("base64url");
const afterOther = [`${otherYear}-03-03T14:02:00.000Z`, "ffffffff-ffff-4fff-bfff-ffffffffffff"];

/** What each parameter is given, one after the other; a name of a session stands for its id. */
const values: Record<string, unknown[]> = {
  query: [
    ...["retry", "retry timer", "timer first", mark, `"${mark}"`, `retry ${mark}`, "zanzibarim", "retry zanzibarim"],
    ...["zanzib", "zanzibar", "zanzibarum", `file:shared.ts`, `file:${mark}/src/shared.ts`, `project:${mark} retry`],
    ...[`branch:${mark}`, "-first", "unref retry nonexistent", "retry solved needed", "by:assistant retry"],
  ],
  error: ["TypeError: timer.unref is not a function", `TypeError: ${mark}.unref is not a function`, "retry zanzibarim"],
  path: ["shared.ts", "src/shared.ts", `${mark}/src/shared.ts`],
  project: ["api", mark, "none"],
  agent: ["claude-code", "codex"],
  since: [`${otherYear}-01-01T00:00:00Z`, "2020-01-01T00:00:00Z"],
  until: [`${otherYear}-01-01T00:00:00Z`, "2020-01-01T00:00:00Z"],
  action: ["any", "changed", "read"],
  limit: [1, 2],
  session: ["first", "child", `${mark}-0`],
  around: [0, 2],
  detail: ["talk", "all"],
  cursor: ["1", forged(...afterOther), forged(...afterOther, "z"), forged("best", 1), "x"],
};

/** Each call that has one of its parameters changed, of those that it needs the first value. */
function getCalls(schema: { properties?: object; required?: string[] }): Record<string, unknown>[] {
  const needed = Object.fromEntries((schema.required ?? []).map((name) => [name, values[name]?.[0]]));
  return Object.keys(schema.properties ?? {}).flatMap((name) => {
    if (!values[name]) throw new Error(`the parameter ${name} has no values in this test`);
    return values[name].map((value) => ({ ...needed, [name]: value }));
  });
}

const givenTo = (userId: string, { session, ...given }: Record<string, unknown>) =>
  session === undefined ? given : { ...given, session: ids.get(`${userId} ${session}`) ?? crypto.randomUUID() };

describe("an agent that was let into one project", () => {
  test("has nothing looked up where the index has only others", async () => {
    const getBlocks = (projectId?: string) => heavyRead(adaId, (tx) => readBlockHeads(tx, adaId, projectId));
    const [all, own] = [await getBlocks(), await getBlocks(readers.get(adaId)?.projectId ?? "")];
    expect([all.length, own.map(({ documents }) => documents)]).toEqual([2, [4]]);
  });

  test("gets in every tool, for every parameter, what it would get if there were nothing else", async () => {
    const [ada, eve] = [await connect(adaId), await connect(eveId)];
    const { tools } = await ada.listTools();
    expect(tools.length).toBeGreaterThan(5);
    for (const { name, inputSchema } of tools)
      for (const given of getCalls(inputSchema as never)) {
        const [own, alone] = [
          await askAll(ada, name, givenTo(adaId, given)),
          await askAll(eve, name, givenTo(eveId, given)),
        ];
        expectNothingOfOthers(own);
        expect({ name, given, text: comparable(own) }).toEqual({ name, given, text: comparable(alone) });
      }
  });

  test("goes on by its own cursors alone, which tell nothing", async () => {
    const [ada, eve] = [await connect(adaId), await connect(eveId)];
    const first = await ask(ada, "find_file_history", { path: "shared.ts", limit: 1 });
    const cursor = cursorIn(first) ?? "";
    expect(decoded(cursor)).not.toMatch(/2020|shared/);
    for (const [client, tool, given] of [
      [eve, "find_file_history", { path: "shared.ts" }],
      [ada, "list_recent", {}],
      [ada, "search_sessions", { query: "retry" }],
    ] as const)
      expect(await ask(client, tool, { ...given, cursor })).toMatch(/did not issue the cursor/);
    expect(await ask(ada, "find_file_history", { path: "shared.ts", cursor })).toContain("Mend the second timer");
  });

  test("finds among its resources those of the project", async () => {
    const [ada, eve] = [await connect(adaId), await connect(eveId)];
    const told = async (client: Client) => JSON.stringify((await client.listResources()).resources);
    expectNothingOfOthers(await told(ada));
    expect(comparable(await told(ada))).toBe(comparable(await told(eve)));
    const read = async (client: Client, userId: string, name: string) =>
      JSON.stringify(await client.readResource({ uri: `spoor://session/${ids.get(`${userId} ${name}`)}` }));
    for (const name of ["first", "child"]) {
      expectNothingOfOthers(await read(ada, adaId, name));
      expect(comparable(await read(ada, adaId, name))).toBe(comparable(await read(eve, eveId, name)));
    }
    await expect(read(ada, adaId, `${mark}-0`)).rejects.toThrow();
  });
});
