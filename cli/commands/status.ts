import { type Context, commandHint } from "../context.ts";
import { exitCodes } from "../errors.ts";
import { readManifest } from "../install/manifest.ts";
import { findService } from "../install/services/service.ts";
import { describeService, readState, sayTroubles } from "../service/state.ts";
import { forgetTroubles, readTroubles } from "../service/troubles.ts";
import { openTarget, refreshJobs } from "../sync/push-target.ts";
import { formatBytes } from "../terminal/format.ts";
import { warnKept } from "../terminal/outcomes.ts";
import type { Column } from "../terminal/terminal.ts";

const columns: Column[] = [
  { title: "Sent (UTC)", align: "left" },
  { title: "Job", align: "left" },
  { title: "Status", align: "left" },
  { title: "Size", align: "right" },
];

export async function status(context: Context): Promise<number> {
  const { host, terminal } = context;
  const manifest = await readManifest(host);
  const isRunning = manifest?.hasService === true && (await findService(host)?.isRunning()) === true;
  const described = describeService({ manifest, isRunning, state: await readState(host) });
  if (manifest?.hasService) terminal.say(described);
  const target = await openTarget(context).catch(async (error) => {
    sayTroubles(terminal, await readTroubles(host));
    throw error;
  });
  if (!manifest?.hasService) terminal.say(described);
  await forgetTroubles(host, ["unreachable"]);
  const troubles = await readTroubles(host);
  sayTroubles(terminal, troubles);
  await refreshJobs(target, 0);
  const { server } = target.connection;
  const jobs = target.record.jobs.slice(-20);
  const rows = jobs.map(({ jobId, at, bytes, status }) => [
    at.slice(0, 19).replace("T", " "),
    jobId,
    status,
    formatBytes(bytes),
  ]);
  if (rows.length > 0) terminal.table(columns, rows);
  else
    terminal.say(`No uploads from this machine to ${server} yet. Send sessions with: ${commandHint(context, "push")}`);
  warnKept(terminal, target.record.kept);
  const failed = jobs.filter(({ status }) => status === "failed");
  for (const { jobId, error } of failed) terminal.warn(`${jobId} failed: ${error ?? ""}`);
  if (failed.length > 0) terminal.say(`Failed uploads can be replayed at ${server}/uploads`);
  terminal.json({
    server,
    service: { installed: manifest?.hasService === true, running: isRunning },
    troubles,
    kept: target.record.kept,
    jobs: jobs.map(({ sessions, ...job }) => ({ ...job, sessions: Object.keys(sessions).length })),
  });
  return failed.length > 0 ? exitCodes.leftOut : exitCodes.done;
}
