import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createOwner, findOwner } from "#lib/auth/accounts";
import { operator } from "#lib/auth/audit";
import { openSetup } from "#lib/auth/setup";
import { createTokenByHand } from "#lib/auth/tokens";
import { env, requiredEnv, setEnv } from "#lib/core/env";
import { closeDatabase, pool } from "#lib/db/client";
import { freePort } from "#lib/db/embedded/ports";
import { buildIfNeeded } from "#server/build/build";
import { prepareDatabase, prepareSchema } from "#server/commands/database";
import { startProcesses } from "#server/http/serve";
import { residentBytes } from "../support/resident.ts";
import { post } from "./post.ts";

/** A separate Spoor in a temporary folder, as `npm start` runs it: built, with one web and one worker process. */
export async function startSpoor() {
  const folder = await mkdtemp(join(tmpdir(), "spoor-bench-"));
  const port = await freePort();
  setEnv({
    DATABASE_URL: undefined,
    DATA_DIR: folder,
    PORT: String(port),
    HOST: "127.0.0.1",
    BASE_URL: `http://127.0.0.1:${port}`,
    LOG_LEVEL: "error",
  });
  const database = await prepareDatabase();
  await prepareSchema();
  await buildIfNeeded((line) => console.error(line));
  const processes = await startProcesses("all");
  const link = await openSetup();
  const account = { name: "Bench", email: "bench@example.org", password: "not a secret at all" };
  await createOwner(new URL(link ?? "").searchParams.get("token") ?? "", account, operator);
  const userId = (await findOwner()) ?? "";
  const token = await createTokenByHand(userId, "bench", operator);
  const url = env().BASE_URL;
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };

  return {
    url,
    userId,
    headers,
    databaseUrl: requiredEnv("DATABASE_URL"),

    /** @returns the job's id and the milliseconds until the 202 */
    async send(body: Buffer): Promise<{ jobId: string; acceptMs: number }> {
      const startedAt = performance.now();
      const { status, text } = await post(`${url}/api/ingest`, body, headers);
      const acceptMs = performance.now() - startedAt;
      if (status !== 202) throw new Error(`ingest answered ${status}: ${text}`);
      return { jobId: JSON.parse(text).jobId, acceptMs };
    },

    /** Waits until a job's rows are committed. It polls the database: polling the server would add to what is measured. */
    async end(jobId: string): Promise<void> {
      for (;;) {
        const { rows } = await pool().query("select status from ingest_job where user_id = $1 and id = $2", [
          userId,
          jobId,
        ]);
        if (rows[0]?.status === "succeeded") return;
        if (rows[0]?.status === "failed") throw new Error(`job ${jobId} failed`);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    },

    /** Waits until no job is open. */
    async drained(): Promise<void> {
      for (;;) {
        const { rowCount } = await pool().query(
          "select 1 from ingest_job where status in ('queued', 'running') limit 1",
        );
        if (rowCount === 0) return;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },

    /** Waits until everything is searchable; the worker is idle then. */
    async indexed(): Promise<void> {
      for (;;) {
        const { rowCount } = await pool().query("select 1 from trace where search_pending limit 1");
        if (rowCount === 0) return;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    },

    async messageCount(): Promise<number> {
      const { rows } = await pool().query<{ count: number }>("select count(*)::int as count from message");
      return rows[0]?.count ?? 0;
    },

    /** Empties the database, except for the account. */
    async clear(): Promise<void> {
      while (!(await emptied())) await new Promise((resolve) => setTimeout(resolve, 100));
      await pool().query("checkpoint");
    },

    /** The resident memory of the web and the worker process, in bytes. */
    memory: () => ({ web: residentBytes("server/web."), worker: residentBytes("server/worker.") }),

    async stop(): Promise<void> {
      await processes.stop();
      await closeDatabase();
      await database.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Empties the tables. @returns false if PostgreSQL ended it for a deadlock with the worker */
async function emptied(): Promise<boolean> {
  try {
    await pool().query(
      "truncate message, trace, upload, ingest_job, search_document, search_block, search_bucket, trace_usage, usage_facets",
    );
    return true;
  } catch (error) {
    if ((error as { code?: string }).code === "40P01") return false;
    throw error;
  }
}

export type Spoor = Awaited<ReturnType<typeof startSpoor>>;
