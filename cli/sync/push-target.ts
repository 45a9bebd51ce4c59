import type { Context } from "../context.ts";
import { OriginalsSender } from "../originals/send.ts";
import { loadMaskKey } from "../redact/masker.ts";
import { HttpError } from "../server/api.ts";
import { type AccountInfo, type Connection, connectLoggedIn, fetchAccount } from "../server/connection.ts";
import { type Limits, readLimits } from "../server/limits.ts";
import { Checkpoints } from "./checkpoints.ts";
import { type Compressor, createCompressor } from "./compression.ts";
import { isFinished, type KeptSession, waitForJob } from "./jobs.ts";
import { PictureSender } from "./picture-sender.ts";
import { SentRecord } from "./sent-record.ts";

export type PushTarget = {
  connection: Connection & { token: string };
  account: AccountInfo;
  limits: Limits;
  compressor: Compressor;
  record: SentRecord;
  pictures: PictureSender;
  originals: OriginalsSender;
  checkpoints: Checkpoints;
  maskKey: Buffer | undefined;
  /** The server supports `append`, as far as known. */
  knowsAppend: boolean;
};

export async function openTarget(context: Context): Promise<PushTarget> {
  const connection = await connectLoggedIn(context);
  const account = await fetchAccount(connection);
  const limits = await readLimits(connection.api);
  const record = await SentRecord.open(context.host, connection.server, account.userId, (reason) =>
    context.terminal.warn(`${reason} These sessions will be sent again next time; the server skips duplicates.`),
  );
  return {
    connection,
    account,
    limits,
    compressor: createCompressor(limits.contentEncodings),
    record,
    pictures: new PictureSender(connection.api),
    originals: new OriginalsSender(context, {
      api: connection.api,
      server: connection.server,
      account,
      device: connection.settings.deviceId,
      record,
    }),
    checkpoints: new Checkpoints(context.host, `${connection.server}\n${account.userId}`),
    maskKey: await loadMaskKey(context),
    knowsAppend: true,
  };
}

/**
 * @param patienceSeconds for each job
 * @returns sessions that the server newly keeps as stored
 */
export async function refreshJobs({ connection, record }: PushTarget, patienceSeconds: number): Promise<KeptSession[]> {
  const kept: KeptSession[] = [];
  for (const { jobId, status } of record.jobs.filter((job) => !isFinished(job.status))) {
    try {
      const job = await waitForJob(connection.api, jobId, patienceSeconds);
      if (job.status !== status) kept.push(...record.updateJob(jobId, job));
    } catch (error) {
      if (!(error instanceof HttpError) || error.status !== 404) throw error;
      record.updateJob(jobId, { status: "gone" });
    }
  }
  await record.save(true);
  return kept;
}
