import type { Host } from "./adapters/adapter.ts";
import { CommandError } from "./errors.ts";
import { program } from "./program.ts";
import { Api, type Wait } from "./server/api.ts";
import { readSettings, type Settings, serverOf, tokenOf } from "./settings.ts";
import { formatDuration, type Terminal, toPrintable } from "./terminal/terminal.ts";

export type Values = Record<string, string | boolean | string[] | undefined>;

/** What a command works with. */
export type Context = {
  host: Host;
  terminal: Terminal;
  values: Values;
  /** Words behind the command. */
  words: string[];
  signal: AbortSignal;
};

/** How long what may pass is waited for, in seconds, unless `--patience` says so. */
const usualPatienceSeconds = 300;

export function patienceOf({ values }: Context): number {
  if (values.patience === undefined) return usualPatienceSeconds;
  const seconds = Number(values.patience);
  if (Number.isFinite(seconds) && seconds >= 0) return seconds;
  throw new CommandError("usage", `--patience takes seconds, not "${String(values.patience)}".`);
}

export const stringValue = ({ values }: Context, name: string): string | undefined =>
  typeof values[name] === "string" ? values[name] : undefined;

export const listValue = ({ values }: Context, name: string): string[] =>
  Array.isArray(values[name]) ? values[name] : [];

/** A server, the login there, and its interface. */
export type Connection = { settings: Settings; server: string; token: string | undefined; api: Api };

/** @param options `patienceSeconds` where it is not the usual */
export async function connect(context: Context, options: { patienceSeconds?: number } = {}): Promise<Connection> {
  const { host, terminal, signal } = context;
  const settings = await readSettings(host);
  const server = serverOf(host, settings, stringValue(context, "server"));
  const token = tokenOf(host, settings, server);
  const patienceSeconds = options.patienceSeconds ?? patienceOf(context);
  const onWait = waitTeller(terminal);
  return { settings, server, token, api: new Api(server, { token, patienceSeconds, onWait, signal }) };
}

/** How long a cause that was told is not told again, in seconds. */
const minBetweenSeconds = 10;

/** Tells what is waited for. Many requests wait for one cause at once, and it is told once for all of them. */
function waitTeller(terminal: Terminal): (wait: Wait) => void {
  const toldAt = new Map<string, number>();
  return ({ seconds, reason }) => {
    const now = performance.now();
    if (seconds < 1 || now - (toldAt.get(reason) ?? -Infinity) < minBetweenSeconds * 1000) return;
    toldAt.set(reason, now);
    terminal.warn(`${toPrintable(reason)} Trying again in ${formatDuration(seconds * 1000)}.`);
  };
}

/** As `connect`, for what only somebody who is logged in can do. @throws Failure `login` */
export async function connectLoggedIn(context: Context): Promise<Connection & { token: string }> {
  const connection = await connect(context);
  const { token, server } = connection;
  if (!token)
    throw new CommandError("login", `Not logged in at ${server}. Log in with: ${commandHint(context, "login")}`);
  return { ...connection, token };
}

/** A command to type next: it talks to the server that this one was told to. */
export function commandHint(context: Context, command: string): string {
  const server = stringValue(context, "server");
  return [program, command, ...(server === undefined ? [] : ["--server", server])].join(" ");
}

export type AccountInfo = { userId: string; name: string; email: string; machine: string; expiresAt: string };

/** Whose token it is. @throws Failure `login` where it is nobody's any more */
export async function fetchAccount({ api, server }: Connection): Promise<AccountInfo> {
  const { body } = await api.ask("/api/cli/session");
  const user = (body.user ?? {}) as { name?: string; email?: string };
  if (typeof body.userId !== "string")
    throw new CommandError("failed", `${server} does not say fetchAccount the token is.`);
  return {
    userId: body.userId,
    name: String(user.name ?? ""),
    email: String(user.email ?? ""),
    machine: String(body.machine ?? ""),
    expiresAt: String(body.expiresAt ?? ""),
  };
}
