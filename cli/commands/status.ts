import { advice, type Context } from "../context.ts";
import { exitCodes } from "../failure.ts";
import { openTarget, settleJobs } from "../pushing.ts";
import { sizeOf } from "../session.ts";
import { printable } from "../terminal.ts";

/** The uploads of this machine that it knows of, and what became of them. */
export async function status(context: Context): Promise<number> {
  const { terminal } = context;
  const target = await openTarget(context);
  await settleJobs(target, 0);
  const { server } = target.connection;
  const jobs = target.record.jobs.slice(-20);
  if (jobs.length === 0)
    terminal.say(`This machine has sent nothing to ${server} yet. Send with: ${advice(context, "push")}`);
  else {
    const rows = jobs.map(({ jobId, at, bytes, status }) => [
      at.slice(0, 19).replace("T", " "),
      jobId,
      status,
      sizeOf(bytes),
    ]);
    terminal.table(["Sent (UTC)", "Job", "Status", "Size"], rows);
  }
  const failed = jobs.filter(({ status }) => status === "failed");
  for (const { jobId, error } of failed) terminal.warn(`${jobId} failed: ${printable(error ?? "")}`);
  if (failed.length > 0) terminal.say(`What failed can be replayed at ${server}/uploads.`);
  terminal.json({
    server,
    jobs: jobs.map(({ sessions, ...job }) => ({ ...job, sessions: Object.keys(sessions).length })),
  });
  return failed.length > 0 ? exitCodes.leftOut : exitCodes.done;
}
