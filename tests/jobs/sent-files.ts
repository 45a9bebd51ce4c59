// Agents' files that the client sends, and what counts of them on the server then.
import { rm } from "node:fs/promises";
import { expect } from "vitest";
import { pool } from "#lib/db/client";
import { listTouching } from "#lib/files/files";
import { accountTraces } from "#lib/ledger/account";
import { addUp, type Edits } from "../cli/claude-families.ts";
import { runInProcess } from "../cli/in-process.ts";
import { serveIngest } from "./ingest-server.ts";
import { clearTraces } from "./searching.ts";

const tables = [
  ...["trace_usage", "message_usage", "usage_quarter_hour", "usage_facets", "trace_commit", "trace_file"],
  ...["ingest_job", "upload"],
];

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

    async countMessages(): Promise<number> {
      await accountTraces(30);
      const { rows } = await pool().query("select coalesce(sum(messages), 0)::int as messages from trace_usage");
      return rows[0].messages;
    },

    /** By file, as the files' pages have it; the sums of sessions have to be the same. */
    async countEdits(): Promise<Edits> {
      await accountTraces(30);
      const { rows: names } = await pool().query<{ name: string }>("select distinct name from trace_file");
      const touched = [];
      for (const { name } of names)
        touched.push(...(await listTouching(userId, { path: name, action: "changed", limit: 100 })).files);
      const edits = addUp(touched);
      const { rows } = await pool().query(
        `select coalesce(sum(lines_added), 0)::int as added, coalesce(sum(lines_removed), 0)::int as removed
         from trace where deleted_at is null`,
      );
      const all = Object.values(edits);
      const computeSum = (field: "edits" | "added") => all.reduce((sum, one) => sum + one[field], 0);
      // Each of these edits removes one line.
      expect(rows[0]).toEqual({ added: computeSum("added"), removed: computeSum("edits") });
      return edits;
    },

    async clear(homes: string[]): Promise<void> {
      for (const home of homes) await rm(home, { recursive: true });
      await clearTraces();
      for (const table of tables) await pool().query(`delete from ${table}`);
    },
  };
}
