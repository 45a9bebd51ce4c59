import { setTimeout as sleep } from "node:timers/promises";
import type { Context } from "../context.ts";
import { CommandError } from "../errors.ts";
import { SessionFilter } from "../sessions/filter.ts";
import { Changes } from "../watching/changes.ts";
import { SenderProcess } from "../watching/sender-process.ts";
import { sendRounds } from "./send-rounds.ts";

const maxDeaths = 5;
const deathRestMs = 2000;

export async function watch(context: Context): Promise<number> {
  if (context.values.sender === true) return sendRounds(context);
  new SessionFilter(context);
  const { terminal, signal } = context;
  const changes = new Changes((problem) => terminal.warn(problems[problem]));
  const sender = new SenderProcess();
  try {
    for (let deaths = 0; ; ) {
      const wanted = await changes.next(signal);
      const outcome = await sender.round(wanted, signal);
      if (!("code" in outcome)) {
        deaths = 0;
        changes.finish(wanted, outcome);
      } else if (outcome.code !== null)
        return outcome.code; // it has printed the reason
      else {
        if (++deaths >= maxDeaths) throw new CommandError("failed", "The sending process was killed repeatedly.");
        changes.forget();
        await sleep(deathRestMs * deaths, undefined, { signal });
      }
    }
  } finally {
    changes.close();
    await sender.end();
  }
}

const problems = {
  limit:
    "This system limits how many folders can be watched (on Linux: sysctl fs.inotify.max_user_watches). Spoor checks every few seconds instead.",
  remote:
    "Some folders are on a network or shared file system, which does not report changes. Spoor checks every few seconds instead.",
};
