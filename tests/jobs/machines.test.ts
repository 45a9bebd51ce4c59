import { expect, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { exchangeCode, grant } from "#lib/auth/oauth/grants";
import { registerClient } from "#lib/auth/oauth/registration";
import { logOutMachines } from "#lib/auth/tokens";
import { sha256 } from "#lib/core/digest";
import { pool } from "#lib/db/client";
import { waitingForLocks } from "../support/meanwhile.ts";
import { provideOwner } from "../support/server.ts";

const { userId } = await provideOwner();

test("logging out all machines waits for an agent that renews its token, and is no deadlock", async () => {
  const redirectUri = "https://agent.example/callback";
  const client = registerClient({ client_name: "Agent", redirect_uris: [redirectUri] });
  const verifier = "v".repeat(43);
  const challenge = sha256(verifier).toString("base64url");
  const code = await grant(userId, { client, redirectUri, challenge, project: null }, operator);
  await exchangeCode(code, { client, redirectUri, verifier }, operator);
  const agent = await pool().connect();
  let ending: Promise<void> | undefined;
  try {
    await agent.query("begin");
    await agent.query("update agent_grant set revoked_at = null where user_id = $1", [userId]);
    ending = logOutMachines(userId, operator);
    await expect.poll(waitingForLocks).toBe(1);
    await agent.query("set local lock_timeout = '100ms'");
    await agent.query("update cli_token set expires_at = now() + interval '1 hour' where user_id = $1", [userId]);
    await agent.query("commit");
  } finally {
    await agent.query("rollback");
    agent.release();
    await ending;
  }
  const { rows } = await pool().query(
    `select 1 from cli_token where user_id = $1 and revoked_at is null
     union all select 1 from agent_grant where user_id = $1 and revoked_at is null`,
    [userId],
  );
  expect(rows).toEqual([]);
});
