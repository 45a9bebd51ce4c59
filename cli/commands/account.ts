import { type Context, connect, connectLoggedIn, fetchAccount } from "../context.ts";
import { HttpError } from "../server/api.ts";
import { writeSettings } from "../settings.ts";
import { toPrintable } from "../terminal/terminal.ts";

/** Ends the token at the server and forgets it here; here in any case. */
export async function logout(context: Context): Promise<void> {
  const { host, terminal } = context;
  const { settings, server, api } = await connect(context, { patienceSeconds: 5 });
  const account = settings.accounts[server];
  if (!account) {
    terminal.say(`Not logged in at ${server}.`);
    terminal.json({ server, loggedOut: false });
    return;
  }
  const isEnded = host.env.SPOOR_TOKEN ? false : await end();
  const { [server]: _, ...accounts } = settings.accounts;
  await writeSettings(host, { ...settings, accounts });
  terminal.say(`Logged out at ${server}.`);
  if (!isEnded) terminal.warn(`The token could not be ended at the server; revoke it at ${server}/devices.`);
  terminal.json({ server, loggedOut: true, revoked: isEnded });

  async function end(): Promise<boolean> {
    try {
      await api.ask("/api/cli/session", { method: "DELETE" });
      return true;
    } catch (error) {
      // A token that the server does not know is ended already.
      return error instanceof HttpError && error.status === 401;
    }
  }
}

/** Says whose the login is. */
export async function whoami(context: Context): Promise<void> {
  const { terminal } = context;
  const connection = await connectLoggedIn(context);
  const owner = await fetchAccount(connection);
  terminal.say(`${toPrintable(`${owner.name} <${owner.email}>`)} at ${connection.server}`);
  terminal.say(
    `This machine is "${toPrintable(owner.machine)}" there; its token is valid until ${owner.expiresAt.slice(0, 10)}.`,
  );
  terminal.json({ server: connection.server, ...owner });
}
