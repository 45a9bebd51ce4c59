import { spawn } from "node:child_process";
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { type Context, commandHint, stringValue } from "../context.ts";
import { CommandError } from "../errors.ts";
import type { Fields } from "../files/json.ts";
import { Api, HttpError } from "../server/api.ts";
import { type Connection, connect } from "../server/connection.ts";
import { type Account, writeSettings } from "../settings.ts";
import { toPrintable } from "../terminal/format.ts";

/** Logs this machine in: the user approves it in a browser, and the token is stored in the settings. */
export async function login(context: Context): Promise<void> {
  const { host, terminal, values } = context;
  const connection = await connect({ ...context, values: { ...values, patience: values.patience ?? "10" } });
  const machine = stringValue(context, "machine") ?? hostname();
  const scopes = stringValue(context, "scopes")?.split(",");
  await writeSettings(host, connection.settings); // fails now rather than after the approval
  const { body: started } = await connection.api.request("/api/cli/device/start", {
    method: "POST",
    json: { machine, ...(scopes && { scopes }) },
  });
  const page = approvalPage(started, connection.server);
  terminal.say(`To log in to ${connection.server}, open this page in your browser and approve the login:`);
  terminal.say(`\n  ${terminal.style("bold", page)}\n`);
  const code = terminal.style("bold", toPrintable(String(started.userCode)));
  terminal.say(`The page shows this code, or asks you to type it: ${code}`);
  terminal.json({ event: "started", verificationUri: page, userCode: started.userCode, expiresIn: started.expiresIn });
  if (values["no-browser"] !== true) openBrowser(page, context);
  const account = await waitForToken(connection.api, started, context);
  await storeAccount(connection, account, context);
  terminal.say(`\n${terminal.style("green", "✓")} Logged in as ${toPrintable(`${account.name} <${account.email}>`)}.`);
  terminal.say(`Send your sessions with: ${commandHint(context, "push")}`);
  const { token: _, ...publicFields } = account;
  terminal.json({ event: "loggedIn", server: connection.server, ...publicFields });
  if (host.env.SPOOR_TOKEN) terminal.warn("SPOOR_TOKEN is set: it overrides this login.");
}

/** The approval page's URL. Only http and https are opened. */
function approvalPage(started: Fields, server: string): string {
  const page = String(started.verificationUriComplete ?? started.verificationUri);
  if (URL.canParse(page) && /^https?:$/.test(new URL(page).protocol)) return page;
  throw new CommandError("failed", `${server} sent no valid approval page.`);
}

const openers: Partial<Record<NodeJS.Platform, string[]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** Opens a page where a browser is likely to exist; otherwise the user has the printed address. */
function openBrowser(page: string, { host: { env, platform } }: Context): void {
  const isRemote = env.SSH_CONNECTION !== undefined || env.SSH_TTY !== undefined;
  const hasDisplay = platform !== "linux" || Boolean(env.DISPLAY || env.WAYLAND_DISPLAY || env.BROWSER);
  if (isRemote || !hasDisplay) return;
  const [program = "xdg-open", ...words] = (env.BROWSER && [env.BROWSER]) || openers[platform] || ["xdg-open"];
  const child = spawn(program, [...words, page], { stdio: "ignore", detached: true });
  child.on("error", () => {}); // no such program: the address is printed above
  child.unref();
}

/** Polls at the server's interval until the login is decided. Uses a monotonic clock, so a wrong system time is harmless. */
async function waitForToken(api: Api, started: Fields, context: Context): Promise<Account> {
  const deadline = performance.now() + (Number(started.expiresIn) || 600) * 1000 + 60_000;
  let interval = Number(started.interval) || 5;
  const path = `/api/cli/device/poll?deviceCode=${encodeURIComponent(String(started.deviceCode))}`;
  while (performance.now() < deadline) {
    await sleep(interval * 1000, undefined, { signal: context.signal });
    const answer = await poll(api, path, context);
    if (typeof answer === "number") {
      interval = Math.max(interval, answer);
      continue;
    }
    if (answer.status === "approved") return accountOf(answer);
    interval = Number(answer.interval) || interval;
    context.terminal.progress(() => "Waiting for approval…");
  }
  throw loginError("expired_token", context);
}

function loginError(code: string, context: Context, fallback = "The login failed."): CommandError {
  const again = `Try again with: ${commandHint(context, "login")}`;
  const messages: Record<string, string> = {
    access_denied: "The login was denied.",
    expired_token: `The login was not approved in time. ${again}`,
    already_consumed: `The token of this login was already used. ${again}`,
  };
  return new CommandError("login", messages[code] ?? fallback);
}

/** @returns the response, or the seconds to wait before the next poll */
async function poll(api: Api, path: string, context: Context): Promise<Fields | number> {
  try {
    return (await api.request(path, { retries: false })).body;
  } catch (error) {
    if (error instanceof CommandError && error.kind === "unreachable") return 2;
    if (!(error instanceof HttpError)) throw error;
    if (error.status === 429 || error.status >= 500) return error.retryAfterSeconds ?? 5;
    throw loginError(error.code, context, error.message);
  }
}

function accountOf(answer: Fields): Account {
  const user = (answer.user ?? {}) as { name?: string; email?: string };
  return {
    token: String(answer.token),
    userId: String(answer.userId),
    name: String(user.name ?? ""),
    email: String(user.email ?? ""),
    machine: String(answer.machine ?? ""),
    expiresAt: String(answer.expiresAt ?? ""),
  };
}

/** Stores the account and revokes the token that it replaces. */
async function storeAccount({ settings, server }: Connection, account: Account, context: Context): Promise<void> {
  const previous = settings.accounts[server]?.token;
  await writeSettings(context.host, { ...settings, server, accounts: { ...settings.accounts, [server]: account } });
  if (!previous) return;
  const api = new Api(server, { token: previous, patienceSeconds: 0 });
  await api.request("/api/cli/session", { method: "DELETE", retries: false, timeoutSeconds: 5 }).catch((error) => {
    // It expires after 90 days anyway.
    if (!(error instanceof CommandError || error instanceof HttpError)) throw error;
  });
}
