import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { Host } from "../adapters/adapter.ts";
import { type Context, stringValue } from "../context.ts";
import { CommandError, exitCodes } from "../errors.ts";
import { stateFolder } from "../files/state-files.ts";
import { makeCall, targets } from "../install/agents/targets.ts";
import { isThere } from "../install/files.ts";
import { Installation } from "../install/installation.ts";
import { type Manifest, readManifest } from "../install/manifest.ts";
import { getPlaces, isOnPath } from "../install/places.ts";
import { collectEnvironment, planProgram } from "../install/program.ts";
import { findService, runAll } from "../install/services/service.ts";
import { quoteSh } from "../install/tools.ts";
import { takesOriginals } from "../originals/client.ts";
import { HttpError } from "../server/api.ts";
import { type Connection, connect, fetchAccount, loadSettings } from "../server/connection.ts";
import { isPrivate } from "../server/origin.ts";
import { requireServer, settingsPath, updateSettings } from "../settings.ts";
import { styled } from "../terminal/terminal.ts";
import { logIn } from "./login.ts";
import { originals } from "./originals.ts";
import { push } from "./push.ts";

export async function install(context: Context): Promise<number> {
  const { host, terminal, values } = context;
  if (values.yes !== true && values["dry-run"] !== true && !terminal.canAsk) {
    const advice = "Show the files with --dry-run, or write them without asking with --yes.";
    throw new CommandError("usage", `Every file needs a confirmation, but nobody can answer here. ${advice}`);
  }
  const program = await planProgram(host);
  const earlier = await readEarlierManifest(context);
  const server = await chooseServer(context);
  const installation = new Installation(context, { ...earlier, server });
  const isReady = await installation.offer("The program", program.files);
  const { client } = getPlaces(host);
  const isDeclined = program.files.length > 0 && ["declined", "kept"].includes(installation.outcomes[client] ?? "");
  if (isDeclined) {
    terminal.say("Nothing was installed.");
    terminal.json({ server, files: installation.outcomes, installed: false });
    return exitCodes.done;
  }
  const words = program.words(isReady && program.files.length > 0);
  await offerAgents(context, installation, words);
  const service = await offerService(context, installation, words, server);
  if (installation.isDry) {
    terminal.say();
    terminal.say("Nothing was written. Without --dry-run, install asks about each file.");
    terminal.json({ server, dryRun: true, files: installation.outcomes });
    return exitCodes.done;
  }
  return finish(context, installation, { server, service, command: isReady ? words : undefined });
}

/** The service can't ask for consent to plain http. */
async function chooseServer(context: Context): Promise<string> {
  const { host, values } = context;
  const option = stringValue(context, "server");
  if (values["dry-run"] === true) return requireServer(host, await loadSettings(context), option);
  const { server } = await connect(context, { token: "none" });
  if (values.insecure === true && !isPrivate(server)) {
    await updateSettings(host, (now) => ({ ...now, plainHttp: [...new Set([...(now.plainHttp ?? []), server])] }));
  }
  return server;
}

async function readEarlierManifest({ host, values }: Context): Promise<Omit<Manifest, "server">> {
  const known = await readManifest(host);
  const madeSettings = known?.madeSettings ?? !(await isThere(settingsPath(host)));
  const madeState = known?.madeState ?? !(await isThere(stateFolder(host)));
  const autoUpdate =
    values["no-auto-update"] === true ? false : values["auto-update"] === true || known?.autoUpdate !== false;
  const { files = {}, folders = [], edits = [], hasService = false, loggedIn = false } = known ?? {};
  return { autoUpdate, files, folders, edits, hasService, loggedIn, madeSettings, madeState };
}

async function offerAgents({ host, terminal, values }: Context, installation: Installation, words: string[]) {
  if (values["no-hooks"] === true) return;
  for (const [agent, target] of Object.entries(targets)) {
    const { title, file, needs, source = agent } = target;
    const folder = target.folder(host);
    if (!(await isFolder(folder))) continue;
    if (needs && !(await isThere(join(folder, needs.path)))) {
      terminal.say(`${title}: not now, as ${needs.reason}.`);
      continue;
    }
    const path = join(folder, file);
    const call = makeCall(host, words, source);
    if ("text" in target) await installation.offer(title, [{ path, text: target.text(call), mode: 0o644 }]);
    else await installation.offerEdit({ title, path, agent }, (text) => target.change(text, call), target.undo);
  }
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

type Offered = "ready" | "declined" | "impossible";

async function offerService(
  context: Context,
  installation: Installation,
  words: string[],
  server: string,
): Promise<Offered> {
  const { host, terminal, values } = context;
  if (values["no-service"] === true) return "declined";
  const service = findService(host);
  const obstacle = service
    ? await service.findObstacle()
    : [`Spoor has no background service for ${host.platform}. Let cron run \`spoor push\` every ten minutes.`];
  if (obstacle || !service) {
    terminal.say();
    for (const line of obstacle ?? []) terminal.say(line);
    return "impossible";
  }
  const spec = { words: [...words, "service", "run", "--server", server], server, env: collectEnvironment(host) };
  const files = service.files(spec);
  const title = `Background service: sends the sessions of every agent on this machine to ${server}, except for projects that you exclude (spoor projects exclude)`;
  const isReady = await installation.offer(title, files);
  return isReady || files.every(({ path }) => installation.outcomes[path] !== "declined") ? "ready" : "declined";
}

type Installed = { server: string; service: Offered; command: string[] | undefined };

async function finish(
  context: Context,
  installation: Installation,
  { server, service, command }: Installed,
): Promise<number> {
  const { host, terminal, values } = context;
  const { manifest } = installation;
  manifest.hasService ||= service === "ready";
  await installation.noteFolders(settingsPath(host));
  await installation.noteFolders(join(stateFolder(host), "service.json"));
  await installation.save();
  const wantsOriginals = values["no-login"] !== true && (await askForOriginals(context));
  const scopes = { scopes: values.scopes ?? "ingest,read,originals" };
  const approving = wantsOriginals ? { ...context, values: { ...values, ...scopes } } : context;
  const isLoggedIn = values["no-login"] === true ? undefined : await ensureLogin(approving, installation);
  if (wantsOriginals) await switchOriginalsOn(context);
  const isStarted = service === "ready" && (await start(context));
  terminal.say();
  if (isStarted) {
    terminal.say(
      styled("green", "✓"),
      " Running in the background, also after the next login. What it does: ",
      "spoor service logs",
    );
    terminal.say(`Read your sessions at ${server}/traces`);
  }
  if (command) sayHowToFindIt(context);
  terminal.json({ server, files: installation.outcomes, installed: true, service: isStarted ? "running" : service });
  if (service === "ready" && !isStarted) return exitCodes.failed;
  // Without a service nothing else would send the sessions.
  return service === "impossible" && isLoggedIn === true
    ? push({ ...context, words: [] }, { usual: true })
    : exitCodes.done;
}

async function askForOriginals(context: Context): Promise<boolean> {
  const { host, terminal, signal, values } = context;
  const { originals, askedOriginals } = await loadSettings(context);
  if (originals !== undefined || askedOriginals || !terminal.canAsk || values.yes === true) return false;
  const { api } = await connect({ ...context, values: { ...values, patience: "5" } }, { token: "none" });
  if (!(await takesOriginals(api))) return false;
  terminal.say();
  terminal.say("Spoor can also keep exact copies of the agents' files, to continue a session on another machine.");
  terminal.say("This machine encrypts them with a key that the server never has. Secrets in them are not masked.");
  terminal.say(
    "You get a recovery phrase. If you lose it and the key, nobody can decrypt the copies. Later: spoor originals on",
  );
  const isWanted = await terminal.ask("Keep exact copies?", signal);
  signal.throwIfAborted();
  await updateSettings(host, (now) => ({ ...now, askedOriginals: true }));
  return isWanted;
}

async function switchOriginalsOn(context: Context): Promise<void> {
  try {
    await originals({ ...context, words: ["on"] });
  } catch (error) {
    if (!(error instanceof CommandError || error instanceof HttpError)) throw error;
    context.terminal.warn(`Exact copies stay off: ${error.message} Retry with: spoor originals on`);
  }
}

async function ensureLogin(context: Context, installation: Installation): Promise<boolean | undefined> {
  const { host, terminal, values } = context;
  const connection = await connect({ ...context, values: { ...values, patience: "5" } });
  if (host.env.SPOOR_TOKEN && connection.token) {
    terminal.warn("SPOOR_TOKEN is set, but the background service needs a login. See: spoor login");
    return true;
  }
  if (connection.token && (await isValid(connection))) return true;
  await logIn(context);
  installation.manifest.loggedIn ||= connection.settings.accounts[connection.server] === undefined;
  await installation.save();
  return true;
}

async function isValid(connection: Connection): Promise<boolean> {
  try {
    await fetchAccount(connection);
    return true;
  } catch (error) {
    if (error instanceof HttpError && error.status === 401) return false;
    throw error;
  }
}

async function start({ host, terminal }: Context): Promise<boolean> {
  const service = findService(host);
  if (!service) return false;
  const failed = await runAll(host, (await service.isRunning()) ? service.restart() : service.start());
  for (const line of failed) terminal.warn(`! ${line}`);
  if (failed.length > 0) terminal.warn("The service was not started. Until it is, keep `spoor watch` running.");
  return failed.length === 0;
}

function sayHowToFindIt({ host, terminal }: Context): void {
  const { binFolder } = getPlaces(host);
  if (isOnPath(host, binFolder)) return;
  terminal.say(`${binFolder} is not on your PATH. To use \`spoor\` in new terminals, run once:`);
  terminal.say("  ", styled("bold", composePathAdvice(host, binFolder)));
}

function composePathAdvice({ platform, env }: Host, folder: string): string {
  if (platform === "win32") {
    const old = "[Environment]::GetEnvironmentVariable('Path','User')";
    return `powershell -c "[Environment]::SetEnvironmentVariable('Path', ${old} + ';${folder.replaceAll("'", "''")}', 'User')"`;
  }
  const shell = env.SHELL?.split("/").at(-1);
  if (shell === "fish") return `fish_add_path ${quoteSh(folder)}`;
  const file = shell === "zsh" ? "~/.zshrc" : shell === "bash" ? "~/.bashrc" : "~/.profile";
  return `echo 'export PATH="$HOME/.local/bin:$PATH"' >> ${file}`;
}
