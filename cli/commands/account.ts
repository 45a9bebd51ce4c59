import type { Context } from "../context.ts";
import { HttpError } from "../server/api.ts";
import { connect, connectLoggedIn, fetchAccount } from "../server/connection.ts";
import { updateSettings } from "../settings.ts";

/** The token is also removed if the server can't be reached. */
export async function logout(context: Context): Promise<void> {
  const { host, terminal } = context;
  const { settings, server, api } = await connect(context, { patienceSeconds: 5, token: "stored" });
  if (!settings.accounts[server]) {
    terminal.say(`Not logged in to ${server}.`);
    terminal.json({ server, loggedOut: false });
    return;
  }
  const isRevoked = await revoke();
  await updateSettings(host, ({ accounts: { [server]: _, ...accounts }, ...now }) => ({ ...now, accounts }));
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

export async function whoami(context: Context): Promise<void> {
  const { terminal } = context;
  const connection = await connectLoggedIn(context);
  const account = await fetchAccount(connection);
  terminal.say(`Logged in to ${connection.server} as ${account.name} <${account.email}>.`);
  terminal.say(`This machine is called "${account.machine}". Its token expires on ${account.expiresAt.slice(0, 10)}.`);
  terminal.json({ server: connection.server, ...account });
}
