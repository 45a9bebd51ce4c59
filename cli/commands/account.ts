import type { Context } from "../context.ts";
import { HttpError } from "../server/api.ts";
import { connect, connectLoggedIn, fetchAccount } from "../server/connection.ts";
import { writeSettings } from "../settings.ts";
import { toPrintable } from "../terminal/format.ts";

/** Revokes this machine's token at the server and removes it here, here also where the server can't be reached. */
export async function logout(context: Context): Promise<void> {
  const { host, terminal } = context;
  const { settings, server, api } = await connect(context, { patienceSeconds: 5 });
  const account = settings.accounts[server];
  if (!account) {
    terminal.say(`Not logged in to ${server}.`);
    terminal.json({ server, loggedOut: false });
    return;
  }
  const isRevoked = host.env.SPOOR_TOKEN ? false : await revoke();
  const { [server]: _, ...accounts } = settings.accounts;
  await writeSettings(host, { ...settings, accounts });
  terminal.say(`Logged out of ${server}.`);
  if (!isRevoked) terminal.warn(`The token is still valid on the server. Revoke it at ${server}/devices`);
  terminal.json({ server, loggedOut: true, revoked: isRevoked });

  async function revoke(): Promise<boolean> {
    try {
      await api.request("/api/cli/session", { method: "DELETE" });
      return true;
    } catch (error) {
      // 401: the token was already revoked or has expired.
      return error instanceof HttpError && error.status === 401;
    }
  }
}

/** Shows the logged-in account. */
export async function whoami(context: Context): Promise<void> {
  const { terminal } = context;
  const connection = await connectLoggedIn(context);
  const account = await fetchAccount(connection);
  terminal.say(`Logged in to ${connection.server} as ${toPrintable(`${account.name} <${account.email}>`)}.`);
  const [machine, expires] = [toPrintable(account.machine), account.expiresAt.slice(0, 10)];
  terminal.say(`This machine is called "${machine}". Its token expires on ${expires}.`);
  terminal.json({ server: connection.server, ...account });
}
