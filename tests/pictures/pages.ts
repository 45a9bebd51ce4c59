import { operator } from "#lib/auth/audit";
import { pool } from "#lib/db/client";
import { wholeRange } from "#lib/masking/for-others";
import { shareTrace } from "#lib/shares/shares";
import type { Spoor } from "../bench/spoor.ts";

/** What is seen without a sign-in, by the names of the pictures. */
export const strangerPages = {
  "sign-in": "/sign-in",
  "sign-up": "/sign-up",
  setup: "/setup?token=gone",
};

/** Every other page by the name of its picture. */
export async function readPages({ userId, url }: Spoor): Promise<Record<string, string>> {
  const [longest] = await read<{ id: string; project_id: string | null }>(
    "select id, project_id from trace where user_id = $1 order by message_count desc limit 1",
    userId,
  );
  const [job] = await read<{ id: string }>(
    "select id from ingest_job where user_id = $1 order by created_at desc limit 1",
    userId,
  );
  const id = longest?.id ?? "";
  const shared = await shareTrace(userId, id, { ...wholeRange, masked: false, days: 7 }, operator);
  return {
    home: "/home",
    sessions: "/traces",
    search: "/traces?q=timer",
    nothing: "/traces?q=nothingofthesort",
    session: `/traces/${id}`,
    talk: `/traces/${id}?view=talk`,
    changes: `/traces/${id}/changes`,
    share: `/traces/${id}/share`,
    projects: "/projects",
    ...(longest?.project_id && { project: `/projects/${longest.project_id}` }),
    files: "/files?path=level",
    findings: "/findings",
    stopping: "/findings?stop=1",
    uploads: "/uploads",
    ...(job && { job: `/uploads/${job.id}` }),
    upload: "/upload",
    usage: "/usage",
    machines: "/devices",
    diagnostics: "/diagnostics",
    ...settingsPages,
    device: "/device",
    approval: `/device?code=${await startLogin(url)}`,
    shared: new URL(shared).pathname,
    docs: "/docs",
    missing: "/nothing-here",
  };
}

const settingsPages = {
  settings: "/settings",
  "two-factor": "/settings/two-factor",
  "sign-ins": "/settings/sign-ins",
  shares: "/settings/shares",
  invitations: "/settings/invitations",
  trail: "/settings/trail",
  "delete-account": "/settings/delete",
};

async function read<Row extends object>(statement: string, userId: string): Promise<Row[]> {
  return (await pool().query<Row>(statement, [userId])).rows;
}

/** @returns the code that a machine shows which asks to log in */
async function startLogin(url: string): Promise<string> {
  const response = await fetch(`${url}/api/cli/device/start`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ machine: "tower", scopes: ["ingest", "read"] }),
  });
  return ((await response.json()) as { userCode: string }).userCode;
}
