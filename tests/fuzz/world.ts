import { operator } from "#lib/auth/audit";
import { createTokenByHand } from "#lib/auth/tokens";
import { scopes } from "#lib/core/fields";
import { pool } from "#lib/db/client";
import { decideLogin, findLogin } from "#lib/device/login";
import { toJson, write } from "./json.ts";
import type { World } from "./requests.ts";

/** Enough users that no two concurrent cases share one: a user may have half of the bytes in flight. */
const userCount = 16;

/** Creates users, and objects of the first one for cases that read. @param port the server's */
export async function makeWorld(port: number): Promise<World> {
  const users = [];
  for (let n = 0; n < userCount; n += 1) {
    const { rows } = await pool().query<{ id: string }>(
      `insert into "user" (name, email) values ('F', $1) returning id`,
      [`fuzz-${n}@example.org`],
    );
    const id = rows[0]?.id ?? "";
    users.push({ id, token: await createTokenByHand(id, "fuzz", operator, [...scopes]) });
  }
  const [reader] = users as [World["users"][0]];
  const jobIds = [await sendTraces(port, reader.token)];
  const { rows } = await pool().query<{ id: string }>("select id from trace where user_id = $1", [reader.id]);
  return { users, traceIds: rows.map(({ id }) => id), jobIds, deviceCodes: await makeLogins(port, reader.id) };
}

async function sendTraces(port: number, token: string): Promise<string> {
  const messages = Array.from({ length: 30 }, (_, position) => ({
    position,
    content: `message ${position}`,
    role: "user",
  }));
  const traces = Array.from({ length: 60 }, (_, n) => ({ sourceId: `world-${n}`, project: "/srv/x", messages }));
  const response = await fetch(`http://127.0.0.1:${port}/api/ingest`, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    body: write(toJson({ traces })),
  });
  const { jobId } = (await response.json()) as { jobId: string };
  for (;;) {
    const { rows } = await pool().query("select status from ingest_job where id = $1", [jobId]);
    if (rows[0]?.status === "succeeded") return jobId;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** One device login in each state that a poll can find. */
async function makeLogins(port: number, userId: string): Promise<string[]> {
  const codes = [];
  for (const decision of [undefined, "approved", "denied"] as const) {
    const response = await fetch(`http://127.0.0.1:${port}/api/cli/device/start`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: '{"machine":"fuzz"}',
    });
    const { deviceCode, userCode } = (await response.json()) as { deviceCode: string; userCode: string };
    const login = decision && (await findLogin(userId, userCode));
    if (login) await decideLogin(userId, login.id, decision, operator);
    codes.push(deviceCode);
  }
  return codes;
}
