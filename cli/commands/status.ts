import { type Context, commandHint } from "../context.ts";
import { exitCodes } from "../errors.ts";
import { formatBytes } from "../sessions/session.ts";
import { openTarget, refreshJobs } from "../sync/push-round.ts";
import { toPrintable } from "../terminal/terminal.ts";

/** The uploads of this machine that it knows of, and what became of them. */
export async function status(context: Context): Promise<number> {
  const { terminal } = context;
  const target = await openTarget(context);
  await refreshJobs(target, 0);
  const { server } = target.connection;
  const jobs = target.record.jobs.slice(-20);
  if (jobs.length === 0)
    terminal.say(`This machine has sent nothing to ${server} yet. Send with: ${commandHint(context, "push")}`);
  else {
    const rows = jobs.map(({ jobId, at, bytes, status }) => [
      at.slice(0, 19).replace("T", " "),
      jobId,
      status,
      formatBytes(bytes),
    ]);
    terminal.table(["Sent (UTC)", "Job", "Status", "Size"], rows);
  }
  const failed = jobs.filter(({ status }) => status === "failed");
  for (const { jobId, error } of failed) terminal.warn(`${jobId} failed: ${toPrintable(error ?? "")}`);
  if (failed.length > 0) terminal.say(`What failed can be replayed at ${server}/uploads.`);
  terminal.json({
    server,
    jobs: jobs.map(({ sessions, ...job }) => ({ ...job, sessions: Object.keys(sessions).length })),
  });
  return failed.length > 0 ? exitCodes.leftOut : exitCodes.done;
}
