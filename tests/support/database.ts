import { randomUUID } from "node:crypto";
import pg from "pg";
import { inject } from "vitest";
import { closeDatabase } from "#lib/db/client";
import { setEnv } from "#lib/env";
import { templateName } from "./postgres.ts";

/** The default environment of every test's process and server. */
export const testEnvironment = {
  AUTH_SECRET: "a secret for tests only, 32 characters and more",
  AUTH_RATE_LIMIT: "off",
  LOG_LEVEL: "fatal",
  TRUSTED_PROXIES: "127.0.0.1",
};

/**
 * A separate database for a test file, cloned from the migrated template. Sets this process's environment to it, so that
 * `lib` can be called directly.
 */
export async function freshDatabase(): Promise<{ url: string; drop: () => Promise<void> }> {
  const server = inject("postgresUrl");
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  await run(server, `create database ${name} template ${templateName} strategy file_copy`);
  const url = new URL(server);
  url.pathname = name;
  setEnv({ ...testEnvironment, DATABASE_URL: url.href });
  return {
    url: url.href,
    drop: async () => {
      await closeDatabase();
      await run(server, `drop database ${name} with (force)`);
    },
  };
}

async function run(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
