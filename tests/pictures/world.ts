import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { operator } from "#lib/auth/audit";
import { createTokenByHand } from "#lib/auth/tokens";
import { pool } from "#lib/db/client";
import { accountTraces } from "#lib/ledger/account";
import { recordTelemetry } from "#lib/telemetry/record";
import { telemetryRequest } from "#lib/telemetry/schema";
import { wholeRange } from "#lib/traces/for-others";
import { shareTrace } from "#lib/traces/shares";
import { setBudget } from "#lib/usage/budgets";
import { post } from "../bench/post.ts";
import { type Spoor, startSpoor } from "../bench/spoor.ts";

const fixtures = "tests/fixtures/sessions";
const hourMs = 3_600_000;

type Message = { role?: string; createdAt?: string; content: string; metadata?: Record<string, unknown> };
type Session = { sourceId: string; createdAt?: string; messages: Message[] };

/** How many hours ago each invented session ended, in the order of their files' names, the last one a minute ago. */
const endedHoursAgo = [190, 166, 143, 122, 98, 71, 49, 26, 5, 0.02];

/** A Spoor of its own with the invented sessions of `tests/fixtures`, as if they were of these days, and what goes with them. */
export async function startWorld(): Promise<{ spoor: Spoor; cookies: string; pages: Record<string, string> }> {
  const spoor = await startSpoor();
  await pool().query("update \"user\" set name = 'Ada', seen_at = now() - interval '18 hours'");
  const files = (await readdir(fixtures)).toSorted();
  for (const [at, file] of files.entries()) {
    const session = JSON.parse(await readFile(join(fixtures, file), "utf8")) as Session;
    await send(spoor, at % 3 === 1 ? "tower" : "ada-laptop", moved(session, endedHoursAgo[at] ?? 0, at));
  }
  await spoor.drained();
  await accountTraces(60);
  await spoor.indexed();
  await surround(spoor);
  return { spoor, cookies: await signIn(spoor), pages: await pagesOf(spoor) };
}

/** A session as if it had ended so long ago, with what its answers used. */
function moved(session: Session, hoursAgo: number, seed: number): Session {
  const ended = Date.parse(session.messages.at(-1)?.createdAt ?? session.createdAt ?? "");
  const by = Date.now() - hoursAgo * hourMs - ended;
  const later = (at: string | undefined) => (at ? new Date(Date.parse(at) + by).toISOString() : undefined);
  const messages = session.messages.map((message, place) => {
    const createdAt = later(message.createdAt);
    const used = message.role === "assistant" && !message.metadata?.usage;
    const usage = {
      inputTokens: 300 + ((seed * 37 + place * 113) % 900),
      outputTokens: 120 + Math.ceil(message.content.length / 3),
      cacheReadTokens: 9000 + place * 2100,
      cacheWriteTokens: 700 + ((seed * 53 + place * 71) % 1800),
    };
    return {
      ...message,
      ...(createdAt && { createdAt }),
      ...(used && { metadata: { ...message.metadata, usage } }),
    };
  });
  const createdAt = later(session.createdAt);
  return { ...session, messages, ...(createdAt && { createdAt }) };
}

const tokens = new Map<string, string>();

async function send(spoor: Spoor, machine: string, session: Session): Promise<void> {
  const token = tokens.get(machine) ?? (await createTokenByHand(spoor.userId, machine, operator));
  tokens.set(machine, token);
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const { status, text } = await post(
    `${spoor.url}/api/ingest`,
    Buffer.from(JSON.stringify({ traces: [session] })),
    headers,
  );
  if (status !== 202) throw new Error(`ingest answered ${status}: ${text}`);
}

/** What makes the other pages worth a look: a budget that is nearly used, a silent machine, parsers' reports. */
async function surround({ userId }: Spoor): Promise<void> {
  await createTokenByHand(userId, "old-desktop", operator);
  await pool().query("update cli_token set last_used_at = now() - interval '12 days' where machine = 'old-desktop'");
  await pool().query("delete from cli_token where machine = 'bench'");
  const { rows } = await pool().query<{ spent: string }>(
    "select sum(cost_nano) as spent from trace where activity_at >= date_trunc('month', now())",
  );
  await setBudget(userId, {
    facet: "",
    value: "",
    amountNano: Math.max(1, Math.round(Number(rows[0]?.spent ?? 0) / 0.86)),
  });
  for (const [cliVersion, skippedEntries] of [
    ["0.1.9", 1],
    ["0.2.0", 38],
  ] as const) {
    const diagnostics = [
      { adapter: "claude-code", totalEntries: 4200, skippedEntries: 3, traceCount: 40 },
      {
        adapter: "codex-cli",
        totalEntries: 900,
        skippedEntries,
        unhandledTypes: skippedEntries > 1 ? ["compacted"] : [],
        traceCount: 9,
      },
    ];
    const report = {
      schema: 1,
      deviceId: "ada",
      cliVersion,
      platform: "linux",
      arch: "x64",
      command: "scan",
      diagnostics,
    };
    await recordTelemetry(telemetryRequest.parse(report), { userId, machine: "ada-laptop" });
  }
}

async function signIn({ url }: Spoor): Promise<string> {
  const response = await fetch(`${url}/api/auth/sign-in/email`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Origin: url },
    body: JSON.stringify({ email: "bench@example.org", password: "not a secret at all" }),
  });
  return response.headers
    .getSetCookie()
    .map((line) => line.split(";")[0])
    .join("; ");
}

/** Every page by the name of its picture. */
async function pagesOf({ userId }: Spoor): Promise<Record<string, string>> {
  const { rows } = await pool().query<{ id: string; project_id: string | null }>(
    "select id, project_id from trace where user_id = $1 order by message_count desc limit 1",
    [userId],
  );
  const [longest] = rows;
  const id = longest?.id ?? "";
  const shared = await shareTrace(userId, id, { ...wholeRange, masked: false, days: 7 }, operator);
  return {
    home: "/home",
    sessions: "/traces",
    search: "/traces?q=timer",
    nothing: "/traces?q=nothingofthesort",
    session: `/traces/${id}`,
    talk: `/traces/${id}?view=talk`,
    projects: "/projects",
    ...(longest?.project_id && { project: `/projects/${longest.project_id}` }),
    files: "/files?path=level",
    uploads: "/uploads",
    upload: "/upload",
    usage: "/usage",
    machines: "/devices",
    diagnostics: "/diagnostics",
    settings: "/settings",
    "two-factor": "/settings/two-factor",
    "sign-ins": "/settings/sign-ins",
    shares: "/settings/shares",
    device: "/device",
    shared: new URL(shared).pathname,
    docs: "/docs",
    missing: "/nothing-here",
  };
}
