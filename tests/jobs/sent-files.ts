// Agents' files that the client sends, and what counts of them on the server then.
import { rm } from "node:fs/promises";
import { expect } from "vitest";
import { pool } from "#lib/db/client";
import { accountTraces } from "#lib/ledger/account";
import { runInProcess } from "../cli/in-process.ts";
import { serveIngest } from "./ingest-server.ts";
import { clearTraces } from "./searching.ts";

const tables = ["trace_usage", "message_usage", "usage_day", "usage_facets", "trace_commit", "ingest_job", "upload"];

/** Serves a user's uploads. @returns functions that push the files of a home, count what is stored, and delete both */
export async function receiveFiles(userId: string) {
  const url = await serveIngest(userId);
  return {
    async push(home: string): Promise<void> {
      const words = ["push", "--json", "--no-telemetry"];
      const { code, errors } = await runInProcess(words, home, { SPOOR_URL: url, SPOOR_TOKEN: "spoor_test" });
      expect([code, errors]).toEqual([0, expect.not.stringContaining("Kept as stored")]);
    },

    async countStored(): Promise<{ tokens: number; commits: number }> {
      await accountTraces(30);
      const { rows } = await pool().query(
        `select (select coalesce(sum(output_tokens), 0)::int from trace where deleted_at is null) as tokens,
           (select count(*)::int from trace_commit where counted) as commits`,
      );
      return rows[0];
    },

    async clear(homes: string[]): Promise<void> {
      for (const home of homes) await rm(home, { recursive: true });
      await clearTraces();
      for (const table of tables) await pool().query(`delete from ${table}`);
    },
  };
}
