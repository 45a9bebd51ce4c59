import { Refusal } from "../api.ts";
import { type Context, connect, connectLoggedIn, whose } from "../context.ts";
import { writeSettings } from "../settings.ts";
import { printable } from "../terminal.ts";

/** Ends the token at the server and forgets it here; here in any case. */
export async function logout(context: Context): Promise<void> {
  const { place, terminal } = context;
  const { settings, server, api } = await connect(context, { patienceSeconds: 5 });
  const account = settings.accounts[server];
  if (!account) {
    terminal.say(`Not logged in at ${server}.`);
    terminal.json({ server, loggedOut: false });
    return;
  }
  const isEnded = place.env.SPOOR_TOKEN ? false : await end();
  const { [server]: _, ...accounts } = settings.accounts;
  await writeSettings(place, { ...settings, accounts });
  terminal.say(`Logged out at ${server}.`);
  if (!isEnded) terminal.warn(`The token could not be ended at the server; revoke it at ${server}/devices.`);
  terminal.json({ server, loggedOut: true, revoked: isEnded });

  async function end(): Promise<boolean> {
    try {
      await api.ask("/api/cli/session", { method: "DELETE" });
      return true;
    } catch (error) {
      // A token that the server does not know is ended already.
      return error instanceof Refusal && error.status === 401;
    }
  }
}

/** Says whose the login is. */
export async function whoami(context: Context): Promise<void> {
  const { terminal } = context;
  const connection = await connectLoggedIn(context);
  const owner = await whose(connection);
  terminal.say(`${printable(`${owner.name} <${owner.email}>`)} at ${connection.server}`);
  terminal.say(
    `This machine is "${printable(owner.machine)}" there; its token is valid until ${owner.expiresAt.slice(0, 10)}.`,
  );
  terminal.json({ server: connection.server, ...owner });
}
