import { type Context, commandHint, patienceOf, stringValue } from "../context.ts";
import { CommandError } from "../errors.ts";
import { readSettings, type Settings, serverOf, tokenOf } from "../settings.ts";
import { formatDuration, toPrintable } from "../terminal/format.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { Api, type Wait } from "./api.ts";

/** A server, the token for it, and its API. */
export type Connection = { settings: Settings; server: string; token: string | undefined; api: Api };

/** @param options `patienceSeconds` overrides `--patience` */
export async function connect(context: Context, options: { patienceSeconds?: number } = {}): Promise<Connection> {
  const { host, terminal, signal } = context;
  const settings = await readSettings(host);
  const server = serverOf(host, settings, stringValue(context, "server"));
  const token = tokenOf(host, settings, server);
  const patienceSeconds = options.patienceSeconds ?? patienceOf(context);
  const onWait = createWaitLog(terminal);
  return { settings, server, token, api: new Api(server, { token, patienceSeconds, onWait, signal }) };
}

const minRepeatSeconds = 10;

/** Logs retries. Concurrent requests that wait for the same reason log it once in ten seconds. */
function createWaitLog(terminal: Terminal): (wait: Wait) => void {
  const loggedAt = new Map<string, number>();
  return ({ seconds, reason }) => {
    const now = performance.now();
    if (seconds < 1 || now - (loggedAt.get(reason) ?? -Infinity) < minRepeatSeconds * 1000) return;
    loggedAt.set(reason, now);
    terminal.warn(`${toPrintable(reason)} Trying again in ${formatDuration(seconds * 1000)}.`);
  };
}

/** As `connect`, for commands that need a login. @throws CommandError `login` where there is no token */
export async function connectLoggedIn(context: Context): Promise<Connection & { token: string }> {
  const connection = await connect(context);
  const { token, server } = connection;
  if (!token)
    throw new CommandError("login", `Not logged in to ${server}. Log in with: ${commandHint(context, "login")}`);
  return { ...connection, token };
}

export type AccountInfo = { userId: string; name: string; email: string; machine: string; expiresAt: string };

/** The account that a token belongs to. @throws HttpError 401 where the token is not valid */
export async function fetchAccount({ api, server }: Connection): Promise<AccountInfo> {
  const { body } = await api.request("/api/cli/session");
  const user = (body.user ?? {}) as { name?: string; email?: string };
  if (typeof body.userId !== "string") throw new CommandError("failed", `${server} did not name the token's account.`);
  return {
    userId: body.userId,
    name: String(user.name ?? ""),
    email: String(user.email ?? ""),
    machine: String(body.machine ?? ""),
    expiresAt: String(body.expiresAt ?? ""),
  };
}
