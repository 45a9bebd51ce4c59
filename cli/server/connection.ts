import { type Context, commandHint, readPatience, stringValue } from "../context.ts";
import { CommandError } from "../errors.ts";
import { isFields, toText } from "../files/json.ts";
import { readSettings, requireServer, type Settings } from "../settings.ts";
import { formatDuration } from "../terminal/format.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { Api, type Wait } from "./api.ts";
import { agreeToPlainHttp } from "./origin.ts";
import { readStoredToken, readToken } from "./token.ts";

export type Connection = { settings: Settings; server: string; token: string | undefined; api: Api };

type Options = {
  patienceSeconds?: number;
  /** `stored` ignores `SPOOR_TOKEN`; `none` sends no token. */
  token?: "stored" | "none";
};

export async function loadSettings({ host, terminal }: Context): Promise<Settings> {
  const settings = await readSettings(host);
  for (const { token } of Object.values(settings.accounts)) terminal.hide(String(token));
  return settings;
}

/** @throws CommandError without a server, a usable token or consent to plain http */
export async function connect(context: Context, options: Options = {}): Promise<Connection> {
  const { host, terminal, signal } = context;
  const known = await loadSettings(context);
  const server = requireServer(host, known, stringValue(context, "server"));
  const token = selectToken();
  const settings = await agreeToPlainHttp(context, known, server);
  const patienceSeconds = options.patienceSeconds ?? readPatience(context);
  const onWait = createWaitLog(terminal);
  return { settings, server, token, api: new Api(server, { token, patienceSeconds, onWait, signal }) };

  function selectToken(): string | undefined {
    if (options.token === "none") return undefined;
    return options.token === "stored" ? readStoredToken(known, server) : readToken(host, known, server);
  }
}

const minRepeatSeconds = 10;

/** Concurrent requests wait for the same reason, which is logged once in ten seconds. */
function createWaitLog(terminal: Terminal): (wait: Wait) => void {
  const loggedAt = new Map<string, number>();
  return ({ seconds, reason }) => {
    const now = performance.now();
    if (seconds < 1 || now - (loggedAt.get(reason) ?? -Infinity) < minRepeatSeconds * 1000) return;
    loggedAt.set(reason, now);
    terminal.warn(`${reason} Trying again in ${formatDuration(seconds * 1000)}.`);
  };
}

export async function connectLoggedIn(
  context: Context,
  options: Options = {},
): Promise<Connection & { token: string }> {
  const connection = await connect(context, options);
  const { token, server } = connection;
  if (!token)
    throw new CommandError("login", `Not logged in to ${server}. Log in with: ${commandHint(context, "login")}`);
  return { ...connection, token };
}

export type AccountInfo = { userId: string; name: string; email: string; machine: string; expiresAt: string };

export async function fetchAccount({ api, server }: Connection): Promise<AccountInfo> {
  const { body } = await api.request("/api/cli/session");
  const user = isFields(body.user) ? body.user : {};
  if (typeof body.userId !== "string")
    throw new CommandError("failed", `${server} did not return the token's account.`);
  return {
    userId: body.userId,
    name: toText(user.name),
    email: toText(user.email),
    machine: toText(body.machine),
    expiresAt: toText(body.expiresAt),
  };
}
