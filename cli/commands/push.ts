import { type Context, connect, patienceOf } from "../context.ts";
import { exitCodes } from "../errors.ts";
import { program } from "../program.ts";
import { report } from "../server/telemetry.ts";
import { filterOf } from "../sessions/filter.ts";
import { formatBytes } from "../sessions/session.ts";
import { namedFile, openTarget, type PushResult, planPush, pushOnce, refreshJobs } from "../sync/push-round.ts";
import { SentRecord } from "../sync/sent-record.ts";
import { formatCount, formatDuration, formatNumber, type Terminal, toPrintable } from "../terminal/terminal.ts";

/** Sends every session that is new or has changed, and waits until they are in the archive. */
export async function push(context: Context): Promise<number> {
  const { terminal, values } = context;
  filterOf(context); // what it can't understand is said before anything is sent
  for (const path of context.words) await namedFile(path);
  if (values["dry-run"] === true) return dryRun(context);
  const target = await openTarget(context);
  await refreshJobs(target, patienceOf(context));
  const pushed = await pushOnce(context, target);
  const { server } = target.connection;
  await report(context, target.connection, "push", pushed.tallies);
  tell(terminal, pushed, server);
  const { tallies: _, ...told } = pushed;
  terminal.json({ server, ...told });
  return pushed.left.length > 0 ? exitCodes.leftOut : exitCodes.done;
}

function tell(terminal: Terminal, { sent, same, left, milliseconds }: PushResult, server: string): void {
  if (sent.sessions > 0) {
    const size = formatBytes(sent.wireBytes);
    terminal.say(
      `${terminal.style("green", "✓")} Sent ${formatCount(sent.sessions, "session")} with ${formatCount(sent.messages, "message")}, ${size} in ${formatDuration(milliseconds)}.`,
    );
    terminal.say(`  ${outcomeOf(sent)}`);
  } else if (sent.pending === 0) {
    terminal.say(
      `Nothing ${left.length > 0 ? "else " : ""}to send: ${formatCount(same, "session")} of this machine ${same === 1 ? "is" : "are"} in the archive as they are.`,
    );
  }
  if (same > 0 && sent.sessions > 0) terminal.say(`  ${formatCount(same, "other session")} had not changed.`);
  if (sent.pending > 0) {
    terminal.say(
      `  The server has ${formatCount(sent.pending, "upload")} more and is still busy with them; see: ${program} status`,
    );
  }
  tellLeft(terminal, left);
  if (sent.sessions > 0) terminal.say(`Read them: ${server}/traces`);
}

/** What the server did with what it got. */
export function outcomeOf({ created, updated, unchanged, kept, written }: PushResult["sent"]): string {
  const parts = [`${formatNumber(created)} new`, `${formatNumber(updated)} updated`];
  if (unchanged > 0) parts.push(`${formatNumber(unchanged)} already there`);
  if (kept > 0) parts.push(`${formatNumber(kept)} kept as they were (deleted there, or longer there than here)`);
  return `${parts.join(", ")}; ${formatCount(written, "message")} written.`;
}

/** Every session that could not be sent, by name, with the reason. */
export function tellLeft(terminal: Terminal, left: PushResult["left"]): void {
  for (const { source, sourceId, reason } of left) {
    terminal.warn(
      `${terminal.style("yellow", "!")} Not sent: ${toPrintable(`${source} ${sourceId}`)}: ${toPrintable(reason)}`,
    );
  }
}

async function dryRun(context: Context): Promise<number> {
  const { host, terminal } = context;
  const { settings, server } = await connect(context);
  const userId = settings.accounts[server]?.userId;
  const { wanted, left } = await planPush(context, userId ? await SentRecord.open(host, server, userId) : undefined);
  const bytes = wanted.reduce((sum, { session }) => sum + session.bytes, 0);
  for (const { session, isNew } of wanted) {
    const { source, sourceId, messages, project } = session;
    const name = toPrintable([source, sourceId, project && `(${project})`].filter(Boolean).join(" "));
    terminal.say(
      `${isNew ? "new    " : "changed"}  ${name}  ${formatCount(messages, "message")}, ${formatBytes(session.bytes)}`,
    );
  }
  terminal.say(
    `${formatCount(wanted.length, "session")} with ${formatBytes(bytes)} would be sent to ${server}. Nothing was sent.`,
  );
  tellLeft(terminal, left);
  const sessions = wanted.map(({ session: { body: _, hash: __, ...session }, isNew }) => ({ ...session, isNew }));
  terminal.json({ server, dryRun: true, bytes, sessions, left });
  return left.length > 0 ? exitCodes.leftOut : exitCodes.done;
}
