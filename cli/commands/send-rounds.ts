import { on } from "node:events";
import { setImmediate } from "node:timers/promises";
import type { Host } from "../adapters/adapter.ts";
import { adapters } from "../adapters/registry.ts";
import type { Context } from "../context.ts";
import { CommandError, exitCodes } from "../errors.ts";
import { Search } from "../files/search.ts";
import { saySent } from "../redact/describe.ts";
import { SessionFilter } from "../sessions/filter.ts";
import { pushOnce } from "../sync/push-round.ts";
import { openTarget, type PushTarget, refreshJobs } from "../sync/push-target.ts";
import { formatDuration } from "../terminal/format.ts";
import { describeCopies, describeSent, warnInvalid, warnKept, warnUnsent } from "../terminal/outcomes.ts";
import { styled } from "../terminal/terminal.ts";
import type { LookedAt, RoundReport, RoundRequest } from "../watching/sender-process.ts";

const patienceSeconds = 7 * 24 * 3600;

/** It runs one round for each request of its parent, until the parent ends. */
export async function sendRounds(context: Context): Promise<number> {
  const { terminal, values } = context;
  if (!process.send) throw new CommandError("usage", "--sender is for watch itself.");
  const gone = new AbortController();
  process.once("disconnect", () => gone.abort());
  const signal = AbortSignal.any([context.signal, gone.signal]);
  const requests = on(process, "message", { signal });
  const patient = { ...context, signal, values: { ...values, patience: values.patience ?? String(patienceSeconds) } };
  try {
    const target = await openTarget(patient);
    for await (const [request] of requests as AsyncIterable<[RoundRequest]>) {
      const report = await sendRound(patient, target, request);
      await setImmediate(); // a failed write is only known after this tick
      if (terminal.isUnread) break;
      process.send(report, undefined, {}, () => {}); // if this fails, the parent has ended, which ends the loop
    }
  } catch (error) {
    if (!gone.signal.aborted) throw error;
  } finally {
    if (process.connected) process.disconnect();
  }
  return exitCodes.done;
}

async function sendRound(context: Context, target: PushTarget, request: RoundRequest): Promise<RoundReport> {
  const { terminal } = context;
  const { wanted, isFirst, carried } = request;
  if (isFirst) terminal.say(`Watching for new sessions to send to ${target.connection.server}. Stop with Ctrl-C.`);
  target.record.addUnsendable(carried.unsendable);
  const filter = new SessionFilter(context);
  const searches = makeSearches(wanted, filter);
  const { sent, left, kept, stats, secrets, milliseconds } = await target.record.takeTurn(context, async () => {
    const late = await refreshJobs(target, 0);
    const pushed = await pushOnce(context, target, filter, searches);
    return { ...pushed, kept: [...late, ...pushed.kept] };
  });
  const reported = new Set(carried.reported);
  const samples = [...stats.values()].flatMap((one) => one.invalidSamples.filter((it) => !reported.has(it)));
  warnInvalid(terminal, [{ invalid: samples.length, invalidSamples: samples }]);
  if (isFirst) for (const message of filter.describeUnmatched().messages) terminal.warn(message);
  if (sent.sessions > 0) {
    terminal.say(styled("dim", formatClock()), `  ${describeSent(sent)} `, styled("dim", formatDuration(milliseconds)));
  }
  if (sent.sessions > 0) saySent(terminal, secrets, target.maskKey !== undefined);
  warnUnsent(terminal, left);
  warnKept(terminal, kept);
  if (sent.sessions > 0 || left.length > 0) {
    terminal.json({ event: "sent", at: new Date().toISOString(), sent, left, kept });
  }
  target.originals.start(filter, (copies) => {
    terminal.say(styled("dim", formatClock()), `  ${describeCopies(copies)}`);
    terminal.json({ event: "copied", at: new Date().toISOString(), originals: copies });
  });
  return {
    lookedAt: listLookedAt(searches, context.host),
    milliseconds,
    hasSent: sent.sessions > 0,
    carried: { unsendable: target.record.unsendable, reported: [...reported, ...samples] },
  };
}

const formatClock = (): string => new Date().toTimeString().slice(0, 8);

function makeSearches(wanted: RoundRequest["wanted"], filter: SessionFilter): Map<string, Search> {
  const searches = new Map<string, Search>();
  for (const adapter of adapters) {
    const paths = wanted === "all" ? wanted : wanted[adapter.name];
    if (paths && filter.wantsAdapter(adapter))
      searches.set(adapter.name, new Search(paths === "all" ? undefined : paths));
  }
  return searches;
}

function listLookedAt(searches: ReadonlyMap<string, Search>, host: Host): Record<string, LookedAt> {
  const lookedAt: Record<string, LookedAt> = {};
  for (const adapter of adapters) {
    const search = searches.get(adapter.name);
    if (!search) continue;
    const { only, walked, listed, files, milliseconds } = search;
    // An adapter may have searched its folder with its own functions.
    if (!only)
      for (const { path } of adapter.getSearchRoots(host)) if (!walked.has(path) && !files.has(path)) listed.add(path);
    const paths = { walked: [...walked], listed: [...listed], files: [...files] };
    lookedAt[adapter.name] = { isWhole: only === undefined, ...paths, milliseconds };
  }
  return lookedAt;
}
