import { type Context, listValue, readPatience, stringValue } from "../context.ts";
import { CommandError, exitCodes } from "../errors.ts";
import { program } from "../program.ts";
import { saySent } from "../redact/describe.ts";
import { HttpError } from "../server/api.ts";
import { connect, fetchAccount, loadSettings } from "../server/connection.ts";
import { sendTelemetry } from "../server/telemetry.ts";
import { SessionFilter } from "../sessions/filter.ts";
import { countPictures, type ParseStats } from "../sessions/parse-stats.ts";
import type { UnsentSession } from "../sessions/session.ts";
import { requireServer, type Settings } from "../settings.ts";
import { findNamedFile } from "../sync/changed-inputs.ts";
import { planPush } from "../sync/push-plan.ts";
import { type PushResult, pushOnce } from "../sync/push-round.ts";
import { openTarget, type PushTarget, refreshJobs } from "../sync/push-target.ts";
import { SentRecord } from "../sync/sent-record.ts";
import { formatBytes, formatCount, formatDuration, formatList, formatPictures } from "../terminal/format.ts";
import {
  describeCopies,
  describeSent,
  sayLeftOut,
  warnInvalid,
  warnKept,
  warnRefused,
  warnUnsent,
} from "../terminal/outcomes.ts";
import { styled } from "../terminal/terminal.ts";
import { agreeToFirstPush } from "./first-push.ts";

export async function push(context: Context, { usual = false } = {}): Promise<number> {
  const { values } = context;
  new SessionFilter(context); // reports invalid options before the server is asked
  for (const path of context.words) await findNamedFile(path);
  if (values["dry-run"] === true) return dryRun(context);
  const target = await openTarget(context);
  await agreeToFirstPush(context, target, usual);
  const onWait = () => context.terminal.warn("Another spoor on this machine is sending: waiting for it.");
  const result = await target.record.takeTurn({ signal: context.signal, onWait }, async () => {
    const late = await refreshJobs(target, readPatience(context));
    for (const id of listValue(context, "replace")) forgetSession(target.record, id);
    const pushed = await pushOnce(context, target);
    return { ...pushed, kept: [...late, ...pushed.kept] };
  });
  const { server } = target.connection;
  await sendTelemetry(context, target.connection, "push", result.stats);
  printResult(context, result, target);
  const copies = context.words.length > 0 ? undefined : await target.originals.send(result.filter);
  if (copies && copies.copies > 0) context.terminal.say(describeCopies(copies));
  const { sent, same, left, kept, milliseconds, filter } = result;
  const projectsLeftOut = filter.leftOut.size;
  const { secrets } = result;
  const isRedacted = target.maskKey !== undefined;
  return finish(context, result, {
    server,
    sent,
    same,
    left,
    kept,
    projectsLeftOut,
    secrets,
    isRedacted,
    ...(copies && { originals: copies }),
    milliseconds,
  });
}

function forgetSession(record: SentRecord, sourceId: string): void {
  const keys = record.findKeys(sourceId);
  if (keys.length === 0) throw new CommandError("usage", `No session "${sourceId}" was sent from this machine.`);
  for (const key of keys) record.forget(key, `replace ${new Date().toISOString()}`);
}

function printResult(context: Context, result: PushResult, { connection: { server }, maskKey }: PushTarget): void {
  const { terminal } = context;
  const { sent, same, milliseconds, filter, secrets } = result;
  if (sent.sessions > 0) {
    const [sessions, messages] = [formatCount(sent.sessions, "session"), formatCount(sent.messages, "message")];
    const size = `${formatBytes(sent.wireBytes)} in ${formatDuration(milliseconds)}`;
    terminal.say(styled("green", "✓"), ` Sent ${sessions} with ${messages}, ${size}.`);
    terminal.say(`  ${describeSent(sent)}`);
    if (sent.pictures > 0)
      terminal.say(`  ${formatPictures(sent)} ${sent.pictures === 1 ? "was" : "were"} sent with them.`);
    if (same > 0) terminal.say(`  ${formatCount(same, "other session")} had not changed.`);
    saySent(terminal, secrets, maskKey !== undefined);
  } else if (sent.pending === 0) terminal.say(describeNothingSent(context, same, filter));
  if (sent.pending > 0) {
    const uploads = formatCount(sent.pending, "upload");
    terminal.say(`  The server is still processing ${uploads}. Check with: ${program} status`);
  }
  warnKept(terminal, result.kept);
  if (sent.refusedPictures > 0) warnRefused(terminal, sent.refusedPictures);
  sayLeftOut(terminal, filter.leftOut);
  if (sent.sessions > 0) terminal.say(`Read them at ${server}/traces`);
}

function describeNothingSent({ words, values }: Context, same: number, { leftOut }: SessionFilter): string {
  if (same > 0) return `Nothing new: ${formatCount(same, "session")} ${same === 1 ? "is" : "are"} already archived.`;
  if (leftOut.size > 0) return "Nothing to send.";
  if (words.length > 0) return `Nothing to send: no session found in ${formatList(words, 3)}.`;
  if (["since", "source", "project"].some((name) => values[name] !== undefined))
    return "Nothing to send: no session matches.";
  return `Nothing to send: no sessions found on this machine. See where Spoor looks: ${program} doctor`;
}

type PushOutcome = { left: UnsentSession[]; stats: ReadonlyMap<string, ParseStats>; filter: SessionFilter };

function finish({ terminal }: Context, { left, stats, filter }: PushOutcome, result: object): number {
  warnUnsent(terminal, left);
  warnInvalid(terminal, stats.values());
  const { messages, isCertain } = filter.describeUnmatched();
  const message = messages.join(" ");
  if (message) terminal.warn(isCertain ? `spoor: ${message}` : message);
  const isWrongUse = message !== "" && isCertain;
  const invalid = [...stats.values()].reduce((sum, one) => sum + one.invalid, 0);
  terminal.json({ ...result, invalid, ...(isWrongUse && { ok: false, error: "usage", message }) });
  if (isWrongUse) return exitCodes.usage;
  return left.length > 0 || (stats.get("jsonl")?.invalid ?? 0) > 0 ? exitCodes.leftOut : exitCodes.done;
}

/** Only the server knows the user of a token from the environment. */
async function findUserId(context: Context, settings: Settings, server: string): Promise<string | undefined> {
  if (!context.host.env.SPOOR_TOKEN) return settings.accounts[server]?.userId;
  try {
    return (await fetchAccount(await connect(context, { patienceSeconds: 5 }))).userId;
  } catch (error) {
    const isAway = error instanceof HttpError && (error.status === 429 || error.status >= 500);
    if (!isAway && !(error instanceof CommandError && error.kind === "unreachable")) throw error;
    context.terminal.warn(`${error.message} Sent sessions are listed as new.`);
    return undefined;
  }
}

async function dryRun(context: Context): Promise<number> {
  const { host, terminal } = context;
  const settings = await loadSettings(context);
  const server = requireServer(host, settings, stringValue(context, "server"));
  const userId = await findUserId(context, settings, server);
  const plan = await planPush(context, userId ? await SentRecord.open(host, server, userId) : undefined);
  const bytes = plan.sessions.reduce((sum, session) => sum + session.bytes, 0);
  const pictures = countPictures([plan.pictures]);
  for (const { source, sourceId, messages, project, change, bytes: size } of plan.sessions) {
    const name = [source, sourceId, project && `(${project})`].filter(Boolean).join(" ");
    const what = `${formatCount(messages, change === "grown" ? "new message" : "message")}, ${formatBytes(size)}`;
    terminal.say(`${change.padEnd("changed".length)}  ${name}  ${what}`);
  }
  if (plan.sessions.length > 0) {
    const sessions = formatCount(plan.sessions.length, "session");
    const what = `${sessions} (${formatBytes(bytes)})${pictures.pictures > 0 ? ` with ${formatPictures(pictures)}` : ""}`;
    terminal.say(`Would send ${what} to ${server}. Nothing was sent.`);
  } else terminal.say(describeNothingSent(context, plan.same, plan.filter));
  sayLeftOut(terminal, plan.filter.leftOut);
  const sessions = plan.sessions.map((session) => ({ ...session, isNew: session.change === "new" }));
  return finish(context, plan, {
    server,
    dryRun: true,
    bytes,
    ...pictures,
    sessions,
    left: plan.left,
    projectsLeftOut: plan.filter.leftOut.size,
  });
}
