import { type Context, connect, patienceOf } from "../context.ts";
import { exitCodes } from "../failure.ts";
import { filterOf } from "../filter.ts";
import { program } from "../program.ts";
import { namedFile, openTarget, type Pushed, pushOnce, rehearse, settleJobs } from "../pushing.ts";
import { SentRecord } from "../record.ts";
import { sizeOf } from "../session.ts";
import { report } from "../telemetry.ts";
import { amountOf, clockOf, numberOf, printable, type Terminal } from "../terminal.ts";

/** Sends every session that is new or has changed, and waits until they are in the archive. */
export async function push(context: Context): Promise<number> {
  const { terminal, values } = context;
  filterOf(context); // what it can't understand is said before anything is sent
  for (const path of context.words) await namedFile(path);
  if (values["dry-run"] === true) return dryRun(context);
  const target = await openTarget(context);
  await settleJobs(target, patienceOf(context));
  const pushed = await pushOnce(context, target);
  const { server } = target.connection;
  await report(context, target.connection, "push", pushed.tallies);
  tell(terminal, pushed, server);
  const { tallies: _, ...told } = pushed;
  terminal.json({ server, ...told });
  return pushed.left.length > 0 ? exitCodes.leftOut : exitCodes.done;
}

function tell(terminal: Terminal, { sent, same, left, milliseconds }: Pushed, server: string): void {
  if (sent.sessions > 0) {
    const size = sizeOf(sent.wireBytes);
    terminal.say(
      `${terminal.style("green", "✓")} Sent ${amountOf(sent.sessions, "session")} with ${amountOf(sent.messages, "message")}, ${size} in ${clockOf(milliseconds)}.`,
    );
    terminal.say(`  ${outcomeOf(sent)}`);
  } else if (sent.pending === 0) {
    terminal.say(
      `Nothing ${left.length > 0 ? "else " : ""}to send: ${amountOf(same, "session")} of this machine ${same === 1 ? "is" : "are"} in the archive as they are.`,
    );
  }
  if (same > 0 && sent.sessions > 0) terminal.say(`  ${amountOf(same, "other session")} had not changed.`);
  if (sent.pending > 0) {
    terminal.say(
      `  The server has ${amountOf(sent.pending, "upload")} more and is still busy with them; see: ${program} status`,
    );
  }
  tellLeft(terminal, left);
  if (sent.sessions > 0) terminal.say(`Read them: ${server}/traces`);
}

/** What the server did with what it got. */
export function outcomeOf({ created, updated, unchanged, kept, written }: Pushed["sent"]): string {
  const parts = [`${numberOf(created)} new`, `${numberOf(updated)} updated`];
  if (unchanged > 0) parts.push(`${numberOf(unchanged)} already there`);
  if (kept > 0) parts.push(`${numberOf(kept)} kept as they were (deleted there, or longer there than here)`);
  return `${parts.join(", ")}; ${amountOf(written, "message")} written.`;
}

/** Every session that could not be sent, by name, with the reason. */
export function tellLeft(terminal: Terminal, left: Pushed["left"]): void {
  for (const { source, sourceId, reason } of left) {
    terminal.warn(
      `${terminal.style("yellow", "!")} Not sent: ${printable(`${source} ${sourceId}`)}: ${printable(reason)}`,
    );
  }
}

async function dryRun(context: Context): Promise<number> {
  const { place, terminal } = context;
  const { settings, server } = await connect(context);
  const userId = settings.accounts[server]?.userId;
  const { wanted, left } = await rehearse(context, userId ? await SentRecord.open(place, server, userId) : undefined);
  const bytes = wanted.reduce((sum, { session }) => sum + session.bytes, 0);
  for (const { session, isNew } of wanted) {
    const { source, sourceId, messages, project } = session;
    const name = printable([source, sourceId, project && `(${project})`].filter(Boolean).join(" "));
    terminal.say(
      `${isNew ? "new    " : "changed"}  ${name}  ${amountOf(messages, "message")}, ${sizeOf(session.bytes)}`,
    );
  }
  terminal.say(
    `${amountOf(wanted.length, "session")} with ${sizeOf(bytes)} would be sent to ${server}. Nothing was sent.`,
  );
  tellLeft(terminal, left);
  const sessions = wanted.map(({ session: { body: _, hash: __, ...session }, isNew }) => ({ ...session, isNew }));
  terminal.json({ server, dryRun: true, bytes, sessions, left });
  return left.length > 0 ? exitCodes.leftOut : exitCodes.done;
}
