// `npm run bench:read [-- --messages N] [-- --session N] [-- --json]`: how fast reading is with a million messages stored.
import { parseArgs } from "node:util";
import { closeDatabase, pool } from "#lib/db/client";
import { hasLooseBlocks } from "#lib/search/index/compact";
import { countPending } from "#lib/search/index/find-documents";
import { fill } from "../../prisma/fill.ts";
import { loadTexts } from "./corpus.ts";
import { boundRow, percentile, type Row, showMs } from "./measure.ts";
import { lag } from "./rows/lag.ts";
import { type Spoor, startSpoor } from "./spoor.ts";

const { values: options } = parseArgs({
  options: {
    messages: { type: "string", default: "1000000" },
    session: { type: "string", default: "50000" },
    json: { type: "boolean", default: false },
  },
});
const [messages, session] = [Number(options.messages), Number(options.session)];

/** The number of rounds of each search, after one to warm up. */
const rounds = 5;
/** The number of rounds of each page, after as many to warm up: a server in use is warm. */
const pageRounds = 20;
const bounds = { list: 50, home: 100, names: 50, search: 100, suggestions: 50, tools: 120, recall: 300, reader: 500 };

/** Common and rare words, phrases, identifiers and paths, CJK, and terms that do not occur. */
const queries = [
  "the",
  "function",
  "test error",
  "retry timer worker",
  "the to of and in",
  "zenbri",
  '"the test"',
  '"in the file"',
  "test_file",
  "src/test/file.ts",
  "cache_index",
  "的一",
  "以要他",
  "nothingofthesort",
  "the nothingofthesort",
];
const filters = ["", "project=project-1", "source=cursor&model=haiku-4", "from=2026-10-01T00:00:00Z"];

type Reader = { get: (path: string) => Promise<{ text: string; firstMs: number }> };

/** Makes a browser's requests, signed in as the owner. */
async function signIn(spoor: Spoor): Promise<Reader> {
  const response = await fetch(`${spoor.url}/api/auth/sign-in/email`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Origin: spoor.url },
    body: JSON.stringify({ email: "bench@example.org", password: "not a secret at all" }),
  });
  const cookie = response.headers
    .getSetCookie()
    .map((line) => line.split(";")[0])
    .join("; ");
  return {
    async get(path) {
      const startedAt = performance.now();
      const answer = await fetch(spoor.url + path, { headers: { cookie } });
      const reader = answer.body?.getReader();
      const parts: Uint8Array[] = [];
      let firstMs = Number.NaN;
      for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
        if (parts.length === 0) firstMs = performance.now() - startedAt;
        parts.push(part.value);
      }
      if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`);
      return { text: Buffer.concat(parts).toString(), firstMs };
    },
  };
}

async function time(reader: Reader, path: string, times: number): Promise<number[]> {
  for (let round = 0; round < times; round += 1) await reader.get(path);
  const taken: number[] = [];
  for (let round = 0; round < times; round += 1) taken.push((await reader.get(path)).firstMs);
  return taken;
}

/** The cursors of the tenth and of the last page, found by paging through the list. */
async function cursors(spoor: Spoor): Promise<{ tenth: string; last: string }> {
  let cursor = "";
  let [tenth, last, pages] = ["", "", 0];
  do {
    const query = `limit=50${cursor && `&cursor=${cursor}`}`;
    const answer = (await (await fetch(`${spoor.url}/api/traces?${query}`, { headers: spoor.headers })).json()) as {
      nextCursor: string | null;
    };
    pages += 1;
    if (answer.nextCursor) last = answer.nextCursor;
    if (pages === 9) tenth = last;
    cursor = answer.nextCursor ?? "";
  } while (cursor);
  return { tenth, last };
}

async function list(spoor: Spoor, reader: Reader): Promise<Row[]> {
  const { tenth, last } = await cursors(spoor);
  const pages = {
    first: "",
    "10th": `?cursor=${tenth}`,
    last: `?cursor=${last}`,
    project: `?${filters[1]}`,
    filtered: `?${filters[2]}`,
  };
  const rows: Row[] = [];
  for (const [name, query] of Object.entries(pages)) {
    const p95 = percentile(await time(reader, `/traces${query}`, pageRounds), 0.95);
    const what = `the page's first content, p95 of ${pageRounds} after ${pageRounds} to warm up`;
    rows.push(boundRow(`list, ${name}`, what, p95, bounds.list, showMs));
  }
  return rows;
}

/** The home page, and the names that the palette asks for while somebody types. */
async function home(reader: Reader): Promise<Row[]> {
  const page = percentile(await time(reader, "/home", pageRounds), 0.95);
  const names = [];
  for (const q of ["test", "fix the", "nothingofthesort"])
    names.push(...(await time(reader, `/api/names?q=${encodeURIComponent(q)}`, pageRounds)));
  const what = `p95 of ${pageRounds} after ${pageRounds} to warm up`;
  return [
    boundRow("home", `the page's first content, ${what}`, page, bounds.home, showMs),
    boundRow("names", `GET /api/names, three queries, ${what}`, percentile(names, 0.95), bounds.names, showMs),
  ];
}

async function search(spoor: Spoor, reader: Reader): Promise<Row[]> {
  const times = { list: [] as number[], page: [] as number[] };
  const ask = async (path: string) => {
    const startedAt = performance.now();
    const answer = await fetch(spoor.url + path, { headers: spoor.headers });
    await answer.text();
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`);
    return performance.now() - startedAt;
  };
  for (const q of queries) {
    for (const filter of filters) {
      const query = `q=${encodeURIComponent(q)}&${filter}`;
      await ask(`/api/traces?${query}`);
      for (let round = 0; round < rounds; round += 1) times.list.push(await ask(`/api/traces?${query}`));
    }
    times.page.push(...(await time(reader, `/traces?q=${encodeURIComponent(q)}`, rounds)));
  }
  const what = `${queries.length} queries`;
  return [
    boundRow(
      "search, p50",
      `GET /api/traces, ${what}, each with ${filters.length} filters`,
      percentile(times.list, 0.5),
      bounds.search,
      showMs,
    ),
    boundRow("search, p95", "the same", percentile(times.list, 0.95), bounds.search, showMs),
    boundRow(
      "found, p95",
      `the page's first content with excerpts, ${what}`,
      percentile(times.page, 0.95),
      bounds.search,
      showMs,
    ),
  ];
}

/** What agents call, and what is suggested while a person types. */
async function agents(spoor: Spoor): Promise<Row[]> {
  const { rows } = await pool().query("select id from trace order by message_count desc limit 1");
  const session = rows[0].id;
  const call = (name: string, given: object) => ({ method: "tools/call", params: { name, arguments: given } });
  const calls = [
    ...["retry timer", "test error", "zenbri", "cache_index"].map((query) => call("search_sessions", { query })),
    call("find_past_fix", { error: "TypeError: retry timer is not a function" }),
    call("find_file_history", { path: "file.ts", action: "any" }),
    call("list_recent", {}),
    call("read_session", { session, around: 20_000 }),
    call("session_summary", { session }),
  ];
  const timed = async (path: string, init: RequestInit) => {
    const startedAt = performance.now();
    const answer = await fetch(spoor.url + path, { ...init, headers: spoor.headers });
    const text = await answer.text();
    if (answer.status !== 200 || text.includes('"isError":true')) throw new Error(`${path}: ${text.slice(0, 300)}`);
    return performance.now() - startedAt;
  };
  const tools: number[] = [];
  const recall: number[] = [];
  const suggestions: number[] = [];
  for (let round = -1; round < pageRounds; round += 1) {
    const took = { tools: [] as number[], suggestions: [] as number[] };
    for (const body of calls) {
      const sent = JSON.stringify({ jsonrpc: "2.0", id: 1, ...body });
      took.tools.push(await timed("/mcp", { method: "POST", body: sent }));
    }
    const error = encodeURIComponent("TypeError: retry timer is not a function");
    const recalled = await timed(`/api/recall?error=${error}`, {});
    for (const q of ["t", "te", "tes", "zenb", "file:s", "project:p"])
      took.suggestions.push(await timed(`/api/traces/suggestions?q=${q}`, {}));
    if (round < 0) continue;
    tools.push(...took.tools);
    recall.push(recalled);
    suggestions.push(...took.suggestions);
  }
  const p95 = (values: number[]) => percentile(values, 0.95);
  return [
    boundRow("tools", `POST /mcp, ${calls.length} calls of tools, p95`, p95(tools), bounds.tools, showMs),
    boundRow("recall", "GET /api/recall, p95", p95(recall), bounds.recall, showMs),
    boundRow("suggestions", "GET /api/traces/suggestions, p95", p95(suggestions), bounds.suggestions, showMs),
  ];
}

async function reader(client: Reader): Promise<Row[]> {
  const { rows } = await pool().query("select id from trace order by message_count desc limit 1");
  const p95 = percentile(await time(client, `/traces/${rows[0].id}`, rounds), 0.95);
  const what = `a session of ${session} messages, first content, worst of ${rounds}`;
  return [boundRow("reader", what, p95, bounds.reader, showMs)];
}

/** Waits until the index is compacted, as it is half a minute after everything is searchable. */
async function compacted(): Promise<string> {
  const startedAt = performance.now();
  while (await hasLooseBlocks()) await new Promise((resolve) => setTimeout(resolve, 500));
  const { rows } = await pool().query("select count(*)::int as blocks from search_block");
  return `${rows[0].blocks} blocks after ${Math.round((performance.now() - startedAt) / 1000)} s`;
}

/** Waits until everything is searchable. @returns messages indexed per second, with nothing else running */
async function indexed(spoor: Spoor, startedAt: number): Promise<string> {
  while ((await countPending(spoor.userId)) > 0) await new Promise((resolve) => setTimeout(resolve, 200));
  const rate = (messages + session) / ((performance.now() - startedAt) / 1000);
  const { rows } = await pool().query(
    "select pg_total_relation_size('search_bucket') + pg_total_relation_size('search_document') as index, pg_total_relation_size('message') as text",
  );
  const megabytes = (bytes: string) => `${Math.round(Number(bytes) / 1e6)} MB`;
  return `${Math.round(rate)} messages/s, seeding included; the index has ${megabytes(rows[0].index)}, the messages ${megabytes(rows[0].text)}`;
}

const spoor = await startSpoor();
const rows: Row[] = [];
try {
  const startedAt = performance.now();
  await fill(spoor.userId, { messages, session }, (written) => {
    if (written % 100_000 < 10_100) process.stderr.write(`${written} messages…\n`);
  });
  process.stderr.write(`indexing… ${await indexed(spoor, startedAt)}\n`);
  process.stderr.write(`compacting… ${await compacted()}\n`);
  await pool().query("vacuum analyze trace, message, search_bucket, search_document");
  const client = await signIn(spoor);
  process.stderr.write("list, search, reader…\n");
  rows.push(
    ...(await list(spoor, client)),
    ...(await home(client)),
    ...(await search(spoor, client)),
    ...(await agents(spoor)),
    ...(await reader(client)),
  );
  process.stderr.write("lag…\n");
  rows.push(...(await lag(spoor, loadTexts().texts)));
} finally {
  await spoor.stop();
  await closeDatabase();
}

if (options.json) console.log(JSON.stringify({ messages, session, rows }, null, 2));
else {
  console.log(`\nWith ${messages} messages, and a session of ${session}.\n`);
  for (const { name, what, measured, must, met } of rows) {
    console.log(`${met ? "✓" : "✗"} ${name.padEnd(14)} ${measured.padStart(9)}  must be ${must}: ${what}`);
  }
}
process.exit(rows.every(({ met }) => met) ? 0 : 1);
