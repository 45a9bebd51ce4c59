import { expect } from "vitest";
import { acceptBatch } from "#lib/ingest/accept/batch";
import { getJob } from "#lib/ingest/jobs";
import { runJob } from "#lib/ingest/process/run-job";
import { readMessages } from "#lib/messages/read-messages";
import { listTraces } from "#lib/traces/queries";

/** Messages with these contents, in their order. */
export const messages = (...contents: string[]) =>
  contents.map((content, position) => ({ position, content, role: "user" }));

/** Sends uploads as a user's client does, processes them, and reads the result. */
export function getUploads(userId: string) {
  /** Accepts a body. @returns its job's id */
  const acceptText = (text: string) =>
    acceptBatch({ userId, machine: "test" }, Buffer.from(text), "identity", undefined);
  const accept = (traces: unknown[]) => acceptText(JSON.stringify({ traces }));

  /** Processes a job. @returns the job */
  async function run(jobId: string) {
    await runJob({ userId, jobId });
    return getJob(userId, jobId);
  }

  async function send(...traces: unknown[]) {
    const job = await run(await accept(traces));
    expect(job.error).toBeNull();
    return job;
  }

  async function findListed(sourceId: string) {
    for (let cursor: string | undefined; ; ) {
      const page = await listTraces(userId, {}, { limit: 200, cursor });
      const found = page.traces.find((one) => one.sourceId === sourceId);
      if (found || !page.nextCursor) return found;
      cursor = page.nextCursor;
    }
  }

  /** A stored trace with its messages' contents. */
  async function stored(sourceId: string) {
    const trace = await findListed(sourceId);
    if (!trace) return undefined;
    const page = await readMessages(userId, trace.id, -1, { limit: 1000 });
    return { ...trace, contents: page.messages.map(({ content }) => content) };
  }

  /** The id of a stored trace. */
  const findId = async (sourceId: string) => (await findListed(sourceId))?.id ?? expect.fail(`there is no ${sourceId}`);

  return { acceptText, accept, run, send, stored, findId };
}
