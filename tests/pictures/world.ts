import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { operator } from "#lib/auth/audit";
import { createTokenByHand } from "#lib/auth/tokens";
import { setEnv } from "#lib/core/env";
import { pool } from "#lib/db/client";
import { accountTraces } from "#lib/ledger/account";
import { recordTelemetry } from "#lib/telemetry/record";
import { telemetryRequest } from "#lib/telemetry/schema";
import { setBudget } from "#lib/usage/budgets";
import { post } from "../bench/post.ts";
import { type Spoor, startSpoor } from "../bench/spoor.ts";
import { formed } from "../unit/secrets/made-up.ts";
import { readPages, strangerPages } from "./pages.ts";

const fixtures = "tests/fixtures/sessions";
const hourMs = 3_600_000;

type Message = {
  position?: number;
  role?: string;
  createdAt?: string;
  content: string;
  metadata?: Record<string, unknown>;
};
type Session = {
  sourceId: string;
  title?: string;
  metadata?: Record<string, unknown>;
  createdAt?: string;
  messages: Message[];
};

/** How many hours ago each invented session ended, in the order of their files' names, the last one a minute ago. */
const endedHoursAgo = [190, 166, 143, 122, 98, 71, 49, 26, 5, 0.02];

export type World = Awaited<ReturnType<typeof startWorld>>;

/**
 * A Spoor of its own with the invented sessions of `tests/fixtures`, as if they were of these days, and what goes with them.
 *
 * @param file is an upload's body (`{"traces": […]}`, gzipped or not) to be shown in place of the invented sessions
 * @returns `pages` and `strangerPages`: their paths by the names of their pictures; the latter are seen signed out
 */
export async function startWorld(file?: string) {
  setEnv({ SIGN_UP: "open" });
  const spoor = await startSpoor();
  try {
    return await fill(spoor, file);
  } catch (error) {
    await spoor.stop();
    throw error;
  }
}

async function fill(spoor: Spoor, file: string | undefined) {
  await pool().query("update \"user\" set name = 'Ada', seen_at = now() - interval '18 hours'");
  if (file) await sendFile(spoor, file);
  else await sendInvented(spoor);
  await spoor.drained();
  await accountTraces(300);
  await spoor.indexed();
  await surround(spoor);
  return { spoor, cookies: await signIn(spoor), pages: await readPages(spoor), strangerPages };
}

async function sendInvented(spoor: Spoor): Promise<void> {
  const files = (await readdir(fixtures)).toSorted();
  for (const [at, name] of files.entries()) {
    const session = forPictures(JSON.parse(await readFile(join(fixtures, name), "utf8")) as Session, at);
    await send(spoor, at % 3 === 1 ? "tower" : "ada-laptop", [moved(session, endedHoursAgo[at] ?? 0, at)]);
  }
}

async function sendFile(spoor: Spoor, file: string): Promise<void> {
  const bytes = await readFile(file);
  const body = bytes.subarray(0, 2).toString("hex") === "1f8b" ? gunzipSync(bytes) : bytes;
  await send(spoor, "ada-laptop", (JSON.parse(body.toString()) as { traces: Session[] }).traces);
}

/** Two of the sessions print secrets, which are made up here: none stands in a file. A machine may lack Japanese letters. */
function forPictures(given: Session, at: number): Session {
  const session = given.metadata?.language === "ja" ? { ...given, title: "The wheel lacks its templates" } : given;
  const kinds = [["github", "stripe"], ["slack"]][at - 1] ?? [];
  const printed = kinds.flatMap((kind) => formed.filter(([id]) => id === kind).slice(0, 1));
  if (printed.length === 0) return session;
  const createdAt = session.messages.at(-1)?.createdAt ?? session.createdAt;
  const content = `The shell printed more than it should have:\n\n${printed.map(([, secret]) => secret).join("\n")}`;
  return {
    ...session,
    messages: [
      ...session.messages,
      { position: session.messages.length, role: "assistant", content, ...(createdAt && { createdAt }) },
    ],
  };
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

async function send(spoor: Spoor, machine: string, traces: Session[]): Promise<void> {
  const token = tokens.get(machine) ?? (await createTokenByHand(spoor.userId, machine, operator));
  tokens.set(machine, token);
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const { status, text } = await post(`${spoor.url}/api/ingest`, Buffer.from(JSON.stringify({ traces })), headers);
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
