import { spawn } from "node:child_process";
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { type Connection, type Context, commandHint, connect, stringValue } from "../context.ts";
import { CommandError } from "../errors.ts";
import type { Fields } from "../files/json-lines.ts";
import { program } from "../program.ts";
import { Api, HttpError } from "../server/api.ts";
import { type Account, writeSettings } from "../settings.ts";
import { toPrintable } from "../terminal/terminal.ts";

/** Logs this machine in: the person approves it in a browser, and the token is kept for this user alone. */
export async function login(context: Context): Promise<void> {
  const { host, terminal, values } = context;
  const connection = await connect({ ...context, values: { ...values, patience: values.patience ?? "10" } });
  const machine = stringValue(context, "machine") ?? hostname();
  await writeSettings(host, connection.settings); // nobody approves a login that can't be kept
  const { body: started } = await connection.api.ask("/api/cli/device/start", { method: "POST", json: { machine } });
  const page = pageOf(started, connection.server);
  terminal.say(`Approve this login in your browser, at ${connection.server}:`);
  terminal.say(`\n  ${terminal.style("bold", page)}\n`);
  terminal.say(`It shows this code: ${terminal.style("bold", toPrintable(String(started.userCode)))}`);
  terminal.json({ event: "started", verificationUri: page, userCode: started.userCode, expiresIn: started.expiresIn });
  if (values["no-browser"] !== true) openBrowser(page, context);
  const account = await waitForToken(connection.api, started, context);
  await keep(connection, account, context);
  terminal.say(`\n${terminal.style("green", "✓")} Logged in as ${toPrintable(`${account.name} <${account.email}>`)}.`);
  terminal.say(`Send your sessions with: ${commandHint(context, "push")}`);
  const { token: _, ...told } = account;
  terminal.json({ event: "loggedIn", server: connection.server, ...told });
  if (host.env.SPOOR_TOKEN) terminal.warn("SPOOR_TOKEN is set, and is used instead of this login.");
}

/** The approval page; one on another host than the server asked is not opened for anybody. */
function pageOf(started: Fields, server: string): string {
  const page = String(started.verificationUriComplete ?? started.verificationUri);
  if (URL.canParse(page) && /^https?:$/.test(new URL(page).protocol)) return page;
  throw new CommandError("failed", `${server} named no page for the approval.`);
}

const openers: Partial<Record<NodeJS.Platform, string[]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** Opens a page where there is a browser to open it in; where there is none, the person has the address. */
function openBrowser(page: string, { host: { env, platform } }: Context): void {
  const isRemote = env.SSH_CONNECTION !== undefined || env.SSH_TTY !== undefined;
  const hasDisplay = platform !== "linux" || Boolean(env.DISPLAY || env.WAYLAND_DISPLAY || env.BROWSER);
  if (isRemote || !hasDisplay) return;
  const [program = "xdg-open", ...words] = (env.BROWSER && [env.BROWSER]) || openers[platform] || ["xdg-open"];
  const child = spawn(program, [...words, page], { stdio: "ignore", detached: true });
  child.on("error", () => {}); // no such program: the address stands above
  child.unref();
}

/** Polls at the server's pace until somebody has decided. The clock of this machine has no part in it. */
async function waitForToken(api: Api, started: Fields, { terminal, signal }: Context): Promise<Account> {
  const deadline = performance.now() + (Number(started.expiresIn) || 600) * 1000 + 60_000;
  let interval = Number(started.interval) || 5;
  const path = `/api/cli/device/poll?deviceCode=${encodeURIComponent(String(started.deviceCode))}`;
  while (performance.now() < deadline) {
    await sleep(interval * 1000, undefined, { signal });
    const answer = await poll(api, path);
    if (typeof answer === "number") {
      interval = Math.max(interval, answer);
      continue;
    }
    if (answer.status === "approved") return accountOf(answer);
    interval = Number(answer.interval) || interval;
    terminal.progress(() => "Waiting for the approval…");
  }
  throw new CommandError("login", `Nobody approved the login in time. Start it anew with: ${program} login`);
}

const ends: Record<string, string> = {
  access_denied: "The login was denied.",
  expired_token: `Nobody approved the login in time. Start it anew with: ${program} login`,
  already_consumed: `The token of this login was fetched already. Start it anew with: ${program} login`,
};

/** @returns the answer, or after how many seconds to ask again */
async function poll(api: Api, path: string): Promise<Fields | number> {
  try {
    return (await api.ask(path, { retries: false })).body;
  } catch (error) {
    if (error instanceof CommandError && error.kind === "unreachable") return 2;
    if (!(error instanceof HttpError)) throw error;
    if (error.status === 429 || error.status >= 500) return error.retryAfterSeconds ?? 5;
    throw new CommandError("login", ends[error.code] ?? error.message);
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

/** Keeps the token; the one before it is ended, which nobody uses any more. */
async function keep({ settings, server }: Connection, account: Account, context: Context): Promise<void> {
  const before = settings.accounts[server]?.token;
  await writeSettings(context.host, { ...settings, server, accounts: { ...settings.accounts, [server]: account } });
  if (!before) return;
  const old = new Api(server, { token: before, patienceSeconds: 0 });
  await old.ask("/api/cli/session", { method: "DELETE", retries: false, timeoutSeconds: 5 }).catch((error) => {
    // It ends by itself after 90 days.
    if (!(error instanceof CommandError || error instanceof HttpError)) throw error;
  });
}
