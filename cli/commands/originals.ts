import type { Adapter, Host } from "../adapters/adapter.ts";
import { adapters } from "../adapters/registry.ts";
import { type Context, commandHint, listValue } from "../context.ts";
import { CommandError, exitCodes } from "../errors.ts";
import { toList, toText } from "../files/json.ts";
import { type ListedOriginal, listOriginals, takesOriginals } from "../originals/client.ts";
import { agents, type SessionFiles } from "../originals/collect.ts";
import { formatFingerprint, readIdentity, readRecipient } from "../originals/keys.ts";
import { setUpKey, showFingerprint } from "../originals/set-up.ts";
import { type Verdict, type Verified, verifyOriginal } from "../originals/verify.ts";
import { program } from "../program.ts";
import { addRules, normalizeGlob } from "../projects/edit.ts";
import { type ProjectRule, ProjectRules } from "../projects/rules.ts";
import { type Connection, connect, connectLoggedIn, loadSettings } from "../server/connection.ts";
import { findRunningPid } from "../service/state.ts";
import { type Settings, updateSettings } from "../settings.ts";
import { openTarget, type PushTarget } from "../sync/push-target.ts";
import { splitKey } from "../sync/sent-record.ts";
import { formatBytes, formatCount } from "../terminal/format.ts";
import { styled } from "../terminal/terminal.ts";
import { logIn } from "./login.ts";
import { originalsKey } from "./originals-key.ts";

const verbs: Record<string, (context: Context) => Promise<number>> = {
  on: switchOn,
  off: switchOff,
  status: showStatus,
  verify,
  key: originalsKey,
};

export async function originals(context: Context): Promise<number> {
  const [verb = "status", ...words] = context.words;
  const run = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
  if (!run) {
    throw new CommandError("usage", `originals expects on, off, status, verify or key, not "${verb}". ${see}`);
  }
  if (words.length > 0 && run !== originalsKey) {
    throw new CommandError("usage", `originals ${verb} takes no argument "${words[0]}". ${see}`);
  }
  return run({ ...context, words });
}

const see = `See: ${program} originals --help`;

const readGlobs = (context: Context): string[] =>
  listValue(context, "project").map((glob) => normalizeGlob(glob, context.host));

/** If copies were off, choosing a project turns them on for that project only. */
function changeRules(host: Host, { originals }: Settings, isOn: boolean, globs: readonly string[]) {
  if (globs.length === 0) return isOn ? [] : undefined;
  if (originals === undefined && !isOn) return undefined;
  if (isOn && Array.isArray(originals) && originals.length === 0) return []; // they are already on for all projects
  const { rules } = ProjectRules.of(host, { projects: originals });
  return addRules(rules, isOn ? "include" : "exclude", globs);
}

async function change(host: Host, isOn: boolean, globs: readonly string[]): Promise<void> {
  await updateSettings(host, (now) => {
    const { originals: _, ...others } = now;
    const rules = changeRules(host, now, isOn, globs);
    return rules === undefined ? others : { ...others, originals: rules };
  });
}

async function switchOn(context: Context): Promise<number> {
  const { host, terminal, values } = context;
  const globs = readGlobs(context);
  const { api } = await connectForCopies(context);
  const recipient = await setUpKey(context, api, values["new-key"] === true);
  await change(host, true, globs);
  terminal.say();
  terminal.say(styled("green", "✓"), ` Exact copies are on, encrypted to the key ${showFingerprint(recipient)}.`);
  const { originals } = await loadSettings(context);
  const { rules } = ProjectRules.of(host, { projects: originals });
  sayRules(context, rules);
  terminal.say(
    (await findRunningPid(host)) === undefined
      ? `Send them now with: ${commandHint(context, "push")}`
      : "The background service sends them within a few minutes.",
  );
  terminal.json({ on: true, rules, recipient, fingerprint: showFingerprint(recipient) });
  return exitCodes.done;
}

/** Logs in again if the token lacks the scope. @throws CommandError if it still does */
async function connectForCopies(context: Context): Promise<Connection> {
  const { host } = context;
  const connection = await connect(context);
  if (!(await takesOriginals(connection.api)))
    throw new CommandError(
      "failed",
      `${connection.server} does not support exact copies. It is older than this client.`,
    );
  const scopes = connection.token ? await readScopes(connection) : undefined;
  if (scopes?.includes("originals")) return connection;
  if (host.env.SPOOR_TOKEN && connection.token) {
    const where = `${connection.server}/devices`;
    throw new CommandError(
      "login",
      `SPOOR_TOKEN does not have the scope originals. Create a token with it at ${where}`,
    );
  }
  context.terminal.say("This machine must log in again to get permission to store exact copies.");
  const wanted = [...new Set([...(scopes ?? ["ingest", "read"]), "originals"])].join(",");
  await logIn({ ...context, values: { ...context.values, scopes: wanted } });
  const again = await connectLoggedIn(context);
  if ((await readScopes(again)).includes("originals")) return again;
  throw new CommandError("login", "The login was approved without the scope originals, so exact copies stay off.");
}

async function readScopes({ api }: Connection): Promise<string[]> {
  const { body } = await api.request("/api/cli/session");
  return toList(body.scopes).map(toText);
}

async function switchOff(context: Context): Promise<number> {
  const { host, terminal } = context;
  const globs = readGlobs(context);
  await change(host, false, globs);
  const { originals } = await loadSettings(context);
  const isOn = originals !== undefined;
  if (globs.length > 0 && !isOn) terminal.say("Exact copies are off for all projects.");
  else
    terminal.say(styled("green", "✓"), isOn ? " Exact copies are off for these projects:" : " Exact copies are off.");
  const rules = isOn ? ProjectRules.of(host, { projects: originals }).rules : [];
  if (isOn) sayRules(context, rules);
  terminal.say("Stored copies stay on the server until you delete them or their sessions there.");
  terminal.json({ on: isOn, rules });
  return exitCodes.done;
}

function sayRules({ terminal }: Context, rules: readonly ProjectRule[]): void {
  if (rules.length === 0) terminal.say("They cover all projects whose sessions are sent.");
  for (const rule of rules)
    terminal.say("include" in rule ? `  on   for ${rule.include}` : `  off  for ${rule.exclude}`);
}

async function showStatus(context: Context): Promise<number> {
  const { host, terminal } = context;
  const { originals } = await loadSettings(context);
  const [recipient, identity] = [await readRecipient(host), await readIdentity(host)];
  const rules = originals === undefined ? [] : ProjectRules.of(host, { projects: originals }).rules;
  terminal.say(
    originals === undefined
      ? `Exact copies are off. Turn them on with: ${program} originals on`
      : "Exact copies are on.",
  );
  if (originals !== undefined) sayRules(context, rules);
  const can = identity ? "this machine can add and decrypt copies" : "this machine can only add copies";
  if (recipient) terminal.say(`Key ${showFingerprint(recipient)}: ${can}.`);
  const stored = recipient === undefined ? undefined : await countStored(context);
  if (stored) {
    const { copies, plainBytes, storedBytes, last } = stored;
    terminal.say(
      copies === 0
        ? "The server has no copies yet."
        : `The server has ${formatCount(copies, "copy", "copies")} of ${formatBytes(plainBytes)} in ${formatBytes(storedBytes)}, the last of ${last?.updatedAt.slice(0, 16).replace("T", " ")} UTC from "${last?.machine}".`,
    );
    if (stored.others > 0)
      terminal.warn(`${formatCount(stored.others, "copy", "copies")} of them can only be decrypted with another key.`);
  }
  terminal.json({
    on: originals !== undefined,
    rules,
    key:
      recipient === undefined
        ? null
        : { recipient, fingerprint: showFingerprint(recipient), canRead: identity !== undefined },
    stored: stored ?? null,
  });
  return exitCodes.done;
}

async function countStored(context: Context) {
  const { api } = await connectLoggedIn(context);
  const recipient = (await readRecipient(context.host)) ?? "";
  let [copies, plainBytes, storedBytes, others] = [0, 0, 0, 0];
  let last: ListedOriginal | undefined;
  for await (const one of listOriginals(api)) {
    last ??= one;
    copies++;
    plainBytes += one.plainBytes;
    storedBytes += one.storedBytes;
    if (formatFingerprint(one.fingerprint) !== showFingerprint(recipient)) others++;
  }
  return {
    copies,
    plainBytes,
    storedBytes,
    others,
    last: last && { updatedAt: last.updatedAt, machine: last.machine },
  };
}

const sampleSize = 10;

const verdicts: Record<Verdict, string> = {
  same: "identical to the files on this machine",
  grown: "the beginning of a session that continued on this machine",
  gone: "intact; the agent's files are not on this machine",
  changed: "intact; the files on this machine were changed later",
  differs: "differs from the files on this machine",
  damaged: "damaged",
};

const isFault = ({ verdict }: Verified): boolean => verdict === "differs" || verdict === "damaged";

async function verify(context: Context): Promise<number> {
  const { host, terminal, values, signal } = context;
  const identity = await readIdentity(host);
  if (!identity) {
    const advice = `Import the key with: ${program} originals key import`;
    throw new CommandError(
      "failed",
      `This machine can't decrypt copies because it does not have the secret key. ${advice}`,
    );
  }
  const target = await openTarget(context);
  const { api } = target.connection;
  const all: ListedOriginal[] = [];
  for await (const one of listOriginals(api)) all.push(one);
  const chosen = values.all === true ? all : pickSample(all);
  const here = chosen.length > 0 ? await findHere(host, target) : new Map<string, never>();
  const counts = new Map<Verdict, number>();
  const faults: { source: string; sourceId: string; reason: string }[] = [];
  for (const [at, one] of chosen.entries()) {
    signal.throwIfAborted();
    terminal.progress(() => `Reading  ${at + 1} of ${formatCount(chosen.length, "copy", "copies")}`);
    const { source, sourceId } = one;
    const local = await here.get(`${source}/${sourceId}`)?.();
    const verified = await verifyOriginal(one, local, { api, secret: identity.secret }).catch((error): Verified => {
      if (error instanceof CommandError && error.kind === "failed")
        return { verdict: "damaged", reason: error.message };
      throw error;
    });
    if (!verified) continue; // it was deleted meanwhile
    counts.set(verified.verdict, (counts.get(verified.verdict) ?? 0) + 1);
    if (isFault(verified)) faults.push({ source, sourceId, reason: verified.reason ?? verdicts[verified.verdict] });
  }
  const checked = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const total = formatCount(all.length, "copy", "copies");
  terminal.say(
    all.length === 0 ? "The server has no exact copies." : `${checked} of ${total} downloaded and decrypted:`,
  );
  for (const [verdict, count] of counts) terminal.say(`  ${count}  ${verdicts[verdict]}`);
  for (const { source, sourceId, reason } of faults) terminal.warn(`! ${source} ${sourceId}: ${reason}`);
  if (chosen.length < all.length) terminal.say(`Verify all of them with: ${program} originals verify --all`);
  terminal.json({ ok: faults.length === 0, copies: all.length, checked, verdicts: Object.fromEntries(counts), faults });
  return faults.length > 0 ? exitCodes.failed : exitCodes.done;
}

/** Half are the newest, half are random. */
function pickSample(all: readonly ListedOriginal[]): ListedOriginal[] {
  const [newest, others] = [all.slice(0, sampleSize / 2), all.slice(sampleSize / 2)];
  while (newest.length < sampleSize && others.length > 0)
    newest.push(...others.splice(Math.floor(Math.random() * others.length), 1));
  return newest;
}

async function findHere(
  host: Host,
  { record }: PushTarget,
): Promise<Map<string, () => Promise<SessionFiles | undefined>>> {
  const here = new Map<string, () => Promise<SessionFiles | undefined>>();
  const isCopied = (adapter: Adapter) => Object.hasOwn(agents, adapter.name);
  for (const adapter of adapters.filter(isCopied)) {
    const agent = agents[adapter.name];
    for await (const input of adapter.discover(host)) {
      const main = await agent?.findMain(input.path);
      if (!agent || main === undefined) continue;
      for (const [key] of record.getSessions({ ...input, adapter, path: main }))
        if (!splitKey(key).sourceId.includes("/")) here.set(key, () => agent.gather(main));
    }
  }
  return here;
}
