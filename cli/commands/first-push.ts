import type { Context } from "../context.ts";
import { CommandError } from "../errors.ts";
import { program } from "../program.ts";
import { findProjects, sumProjects } from "../projects/found.ts";
import { foldHome } from "../projects/rules.ts";
import { showProjects } from "../projects/show.ts";
import { sayFound } from "../redact/describe.ts";
import { SessionFilter } from "../sessions/filter.ts";
import { countPictures } from "../sessions/parse-stats.ts";
import { updateSettings } from "../settings.ts";
import type { PushTarget } from "../sync/push-target.ts";
import { formatBytes, formatCount, formatPictures } from "../terminal/format.ts";
import { styled } from "../terminal/terminal.ts";

/**
 * @param usual the answer to an empty line
 * @throws CommandError `failed` if the answer is no
 */
export async function agreeToFirstPush(
  context: Context,
  { connection, account, record, maskKey }: PushTarget,
  usual = false,
): Promise<void> {
  const { host, terminal, values, words, signal } = context;
  const { server, settings } = connection;
  const isFirst = !record.hasSent && !settings.agreedTo?.includes(server);
  if (!isFirst || words.length > 0 || !(terminal.canAsk || (values.yes === true && terminal.width !== undefined)))
    return;
  const filter = new SessionFilter(context);
  const found = await findProjects(context, {
    adapter: (adapter) => filter.wantsAdapter(adapter),
    input: (input) => filter.wantsInput(input),
    part: (part, adapter) => filter.wantsSession(part, adapter),
  });
  const sent = found.filter(({ leftOutBy }) => !leftOutBy);
  if (sent.length === 0) return;
  terminal.say(styled("bold", `The first push from this machine to ${server}, as ${account.email}, sends:`));
  terminal.say();
  showProjects(context, sent, { all: false, more: `${program} projects --all` });
  terminal.say();
  const { sessions, bytes } = sumProjects(sent);
  const where = `${formatCount(sessions, "session")} (${formatBytes(bytes)}) in ${formatCount(sent.length, "project")}`;
  const count = countPictures(sent.map(({ pictures }) => pictures));
  const total = count.pictures > 0 ? `${where}, with ${formatPictures(count)}` : where;
  const leftOut = found.length - sent.length;
  terminal.say(leftOut > 0 ? `${total}; ${formatCount(leftOut, "other")} excluded.` : `${total}.`);
  const projects = sent.map(({ name, secrets }) => ({ name: foldHome(name, host), secrets }));
  sayFound(terminal, projects, maskKey !== undefined);
  terminal.say(styled("dim", `To exclude some first: ${program} projects exclude GLOB...`));
  if (values.yes !== true && !(await terminal.ask("Send them, and new ones at each push?", signal, usual))) {
    signal.throwIfAborted();
    throw new CommandError("failed", "Nothing was sent.");
  }
  await updateSettings(host, (now) => ({ ...now, agreedTo: [...new Set([...(now.agreedTo ?? []), server])] })).catch(
    (error) => {
      if (!(error instanceof CommandError)) throw error;
    },
  );
}
