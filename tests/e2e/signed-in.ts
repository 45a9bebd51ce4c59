import { pool } from "#lib/db/client";
import { provideBrowser, signIn } from "../support/browser.ts";
import { get, makeUser, owner, provideServer } from "../support/server.ts";

/** A server for the test file that awaits it, shared unless it needs an environment of its own, and a page on which its owner is signed in. */
export async function provideSignedIn(environment?: Record<string, string>, worker = false) {
  const server = await provideServer({ worker, ...(environment && { environment }) });
  const userId = await makeUser();
  const flow = await provideBrowser();
  const { page, field, button } = flow;
  await signIn(page, server, owner);

  const open = (path: string, on = page) => on.goto(server.url + path);
  const sessionStatus = async (token: string) => (await get(server, "/api/cli/session", token)).status;

  async function tokenByHand(machine: string, on = page): Promise<string> {
    await open("/devices", on);
    await field("Machine", on).fill(machine);
    await button("Create token", on).click();
    return String(await on.locator("pre", { hasText: /^spoor_/ }).textContent()).trim();
  }

  return { server, userId, ...flow, open, sessionStatus, tokenByHand };
}

/** The actions in an account's audit trail, newest first. */
export async function trail(email: string): Promise<string[]> {
  const { rows } = await pool().query<{ action: string }>(
    `select action from audit_event join "user" on "user".id = user_id where email = $1 order by audit_event.id desc`,
    [email],
  );
  return rows.map(({ action }) => action);
}
