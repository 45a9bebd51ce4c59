import { spawn } from "node:child_process";
import { rename } from "node:fs/promises";
import { hostname } from "node:os";
import { type Context, commandHint, readPatience, stringValue } from "../context.ts";
import { CommandError } from "../errors.ts";
import { type Fields, isFields, toText } from "../files/json.ts";
import { program } from "../program.ts";
import { Api, clock, HttpError } from "../server/api.ts";
import { type Connection, connect } from "../server/connection.ts";
import { isPlain } from "../server/origin.ts";
import { findTokenFault } from "../server/token.ts";
import {
  type Account,
  areSettingsBroken,
  findTokenServer,
  type Settings,
  settingsPath,
  updateSettings,
} from "../settings.ts";
import { formatDuration } from "../terminal/format.ts";
import { styled } from "../terminal/terminal.ts";

export async function login(context: Context): Promise<void> {
  await logIn(context);
  context.terminal.say(`Send your sessions with: ${commandHint(context, "push")}`);
}

export async function logIn(context: Context): Promise<void> {
  const { host, terminal, values } = context;
  const patient = { ...context, values: { ...values, patience: values.patience ?? "10" } };
  const connection = await connect(patient, { token: "none" });
  const known = connection.settings.accounts[connection.server]?.machine;
  const machine = stringValue(context, "machine") ?? (known || hostname());
  const scopes = stringValue(context, "scopes")?.split(",") ?? findScopes(connection.settings);
  await keepBrokenSettings(context);
  await updateSettings(host, (now) => now); // fails now rather than after the approval
  const started = await startLogin(connection.api, { machine, ...(scopes && { scopes }) }, context);
  terminal.hide(toText(started.deviceCode));
  const page = approvalPage(started, connection.server, context);
  terminal.say(`To log in to ${connection.server}, open this page in your browser and approve the login:`);
  terminal.say();
  terminal.say("  ", styled("bold", page));
  terminal.say();
  terminal.say("The page shows this code, or asks you to type it: ", styled("bold", toText(started.userCode)));
  terminal.json({ event: "started", verificationUri: page, userCode: started.userCode, expiresIn: started.expiresIn });
  if (values["no-browser"] !== true) openBrowser(page, context);
  const account = await waitForToken(connection.api, started, context);
  await storeAccount(connection, account, context);
  terminal.say();
  terminal.say(styled("green", "✓"), ` Logged in as ${account.name} <${account.email}>.`);
  const { token: _, ...publicFields } = account;
  terminal.json({ event: "loggedIn", server: connection.server, ...publicFields });
  const isOverridden = host.env.SPOOR_TOKEN && findTokenServer(host) === connection.server;
  if (isOverridden) terminal.warn("SPOOR_TOKEN is set: it overrides this login.");
}

/** Older servers refuse the scope `originals`, so it is requested only while exact copies are on. */
const findScopes = ({ originals }: Settings): string[] | undefined =>
  originals === undefined ? undefined : ["ingest", "read", "originals"];

/** Moves unreadable settings aside, because the login replaces them. */
async function keepBrokenSettings({ host, terminal }: Context): Promise<void> {
  if (!(await areSettingsBroken(host))) return;
  const path = settingsPath(host);
  const aside = `${path}.broken`;
  await rename(path, aside).catch((error) => {
    throw new CommandError("failed", `${path} can't be read or replaced: ${error.message}.`);
  });
  const lost = "Its choice of projects no longer applies";
  terminal.warn(`${path} could not be read and was moved to ${aside}. ${lost}: see ${program} projects`);
}

/** The server's rate limits for logins last minutes, so a login without `--patience` waits this long. */
const maxLimitSeconds = 900;

async function startLogin(api: Api, json: object, context: Context): Promise<Fields> {
  const patienceSeconds = context.values.patience === undefined ? maxLimitSeconds : readPatience(context);
  const deadline = clock.now() + patienceSeconds * 1000;
  for (;;) {
    try {
      return (await api.request("/api/cli/device/start", { method: "POST", json })).body;
    } catch (error) {
      if (!(error instanceof HttpError) || error.status !== 429 || error.retryAfterSeconds === undefined) throw error;
      if (clock.now() + error.retryAfterSeconds * 1000 > deadline) throw error;
      await waitAsTold(error.retryAfterSeconds, error.message, context);
    }
  }
}

async function waitAsTold(seconds: number, reason: string, { terminal, signal }: Context): Promise<void> {
  terminal.warn(`${reason} Trying again in ${formatDuration(Math.ceil(seconds) * 1000)}. Stop with Ctrl-C.`);
  await clock.sleep(seconds * 1000, signal);
}

/** @throws CommandError if the page is not on the server itself, because a page elsewhere could ask for the password */
function approvalPage(started: Fields, server: string, context: Context): string {
  const text = toText(started.verificationUriComplete) || toText(started.verificationUri);
  const page = URL.canParse(text) ? new URL(text) : undefined;
  if (page?.origin === server) return page.href;
  if (!page || !isPlain(page)) {
    throw new CommandError("failed", `${server} sent no valid approval page.`);
  }
  const again = commandHint({ ...context, values: { ...context.values, server: page.origin } }, "login");
  throw new CommandError(
    "failed",
    `${server} sent an approval page on another server, ${page.origin}. It was not opened. If both are yours, log in with: ${again}`,
  );
}

const openers: Partial<Record<NodeJS.Platform, string[]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** The address is printed in any case. */
function openBrowser(page: string, { host: { env, home, platform } }: Context): void {
  const isRemote = env.SSH_CONNECTION !== undefined || env.SSH_TTY !== undefined;
  const hasDisplay = platform !== "linux" || Boolean(env.DISPLAY || env.WAYLAND_DISPLAY || env.BROWSER);
  if (isRemote || !hasDisplay) return;
  const [program = "xdg-open", ...words] = (env.BROWSER && [env.BROWSER]) || openers[platform] || ["xdg-open"];
  const child = spawn(program, [...words, page], { cwd: home, stdio: "ignore", detached: true });
  child.on("error", () => {}); // no such program: the address is printed above
  child.unref();
}

/** A monotonic clock makes a wrong system time harmless. */
async function waitForToken(api: Api, started: Fields, context: Context): Promise<Account> {
  const lifetimeSeconds = clamp(started.expiresIn, [1, 3600], 600);
  const deadline = clock.now() + (lifetimeSeconds + 60) * 1000;
  let interval = clamp(started.interval, intervalRange, 5);
  const path = `/api/cli/device/poll?deviceCode=${encodeURIComponent(toText(started.deviceCode))}`;
  while (clock.now() < deadline) {
    await clock.sleep(interval * 1000, context.signal);
    const answer = await poll(api, path, context);
    if (answer instanceof HttpError) {
      const seconds = answer.retryAfterSeconds ?? 5;
      if (clock.now() + seconds * 1000 > deadline) throw answer;
      if (seconds > interval) await waitAsTold(seconds - interval, answer.message, context);
      continue;
    }
    if (answer === undefined) continue;
    if (answer.status === "approved") return readAccount(answer, context);
    interval = clamp(answer.interval, intervalRange, interval);
    context.terminal.progress(() => "Waiting for approval…");
  }
  throw loginError("expired_token", context);
}

/** Bounds on the server's polling interval, in seconds, against floods and endless logins. */
const intervalRange = [0.05, 60] as const;

const clamp = (value: unknown, [min, max]: readonly [number, number], otherwise: number): number =>
  typeof value === "number" && value > 0 ? Math.min(max, Math.max(min, value)) : otherwise;

function loginError(code: string, context: Context, fallback = "The login failed."): CommandError {
  const again = `Try again with: ${commandHint(context, "login")}`;
  const messages: Record<string, string> = {
    access_denied: "The login was denied.",
    expired_token: `The login was not approved in time. ${again}`,
    already_consumed: `This login was already used. ${again}`,
  };
  return new CommandError("login", (Object.hasOwn(messages, code) && messages[code]) || fallback);
}

async function poll(api: Api, path: string, context: Context): Promise<Fields | HttpError | undefined> {
  try {
    return (await api.request(path, { retries: false })).body;
  } catch (error) {
    if (error instanceof CommandError && error.kind === "unreachable") return undefined;
    if (!(error instanceof HttpError)) throw error;
    if (error.status === 429 || error.status >= 500) return error;
    throw loginError(error.code, context, error.message);
  }
}

function readAccount(answer: Fields, { terminal }: Context): Account {
  const token = toText(answer.token);
  terminal.hide(token);
  if (token === "" || findTokenFault(token)) throw new CommandError("failed", "The server sent no valid token.");
  const user = isFields(answer.user) ? answer.user : {};
  return {
    token,
    userId: toText(answer.userId),
    name: toText(user.name),
    email: toText(user.email),
    machine: toText(answer.machine),
    expiresAt: toText(answer.expiresAt),
  };
}

async function storeAccount({ settings, server }: Connection, account: Account, context: Context): Promise<void> {
  const previous = settings.accounts[server]?.token;
  try {
    // The approval took minutes: another command may have changed the settings since.
    await updateSettings(context.host, (now) => ({ ...now, server, accounts: { ...now.accounts, [server]: account } }));
  } catch (error) {
    await revoke(server, account.token); // it was not stored, so nobody can use it
    throw error;
  }
  if (previous) await revoke(server, previous);
}

async function revoke(server: string, token: string): Promise<void> {
  const api = new Api(server, { token, patienceSeconds: 0 });
  await api.request("/api/cli/session", { method: "DELETE", retries: false, timeoutSeconds: 5 }).catch((error) => {
    if (!(error instanceof CommandError || error instanceof HttpError)) throw error;
  });
}
