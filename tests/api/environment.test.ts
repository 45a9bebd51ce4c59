import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseEnv } from "#lib/core/env";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spoor-environment-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Starts the server as `npm start` does, with nothing but these variables. @returns how it ended within 20 s */
async function start(variables: Record<string, string>): Promise<{ code: number | null; stderr: string }> {
  const child = spawn(process.execPath, ["server/npm-start.mjs"], {
    env: { NODE_ENV: "production", PATH: process.env.PATH, DATA_DIR: folder, ...variables },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (chunk) => (stderr += chunk));
  const late = setTimeout(() => child.kill("SIGTERM"), 20_000);
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  clearTimeout(late);
  return { code, stderr };
}

const nowhere = "postgres://nobody@127.0.0.1:1/none";

describe("a wrong variable stops the start and is named", () => {
  test.each<[variable: string, variables: Record<string, string>]>([
    ["PORT", { PORT: "abc" }],
    ["PORT", { PORT: "65536" }],
    ["PORT", { PORT: "3000.5" }],
    ["BASE_URL", { BASE_URL: "ftp://x" }],
    ["BASE_URL", { BASE_URL: "https://x/path" }],
    ["BASE_URL", { BASE_URL: "x" }],
    ["DATABASE_URL", { DATABASE_URL: "mysql://x" }],
    ["AUTH_SECRET", { DATABASE_URL: nowhere, AUTH_SECRET: "short" }],
    ["SETUP_TOKEN", { SETUP_TOKEN: "short" }],
    ["SIGN_UP", { SIGN_UP: "yes" }],
    ["INGEST_MAX_BYTES", { INGEST_MAX_BYTES: "256MB" }],
    ["INGEST_MAX_BYTES: must be from 1024 to 524288000", { INGEST_MAX_BYTES: "3" }],
    ["UPLOAD_RETENTION_DAYS", { UPLOAD_RETENTION_DAYS: "-1" }],
    ["WORKER_CONCURRENCY", { WORKER_CONCURRENCY: "0" }],
    ["LOG_LEVEL", { LOG_LEVEL: "loud" }],
    ["TRUSTED_PROXIES", { TRUSTED_PROXIES: "my-proxy" }],
  ])("%s in %j", async (variable, variables) => {
    expect(() => parseEnv(variables)).toThrow(`  ${variable}`);
  });

  test("AUTH_SECRET where the database is one of one's own", async () => {
    const { code, stderr } = await start({ DATABASE_URL: nowhere });
    expect([code, stderr]).toEqual([1, expect.stringContaining("  AUTH_SECRET")]);
  });

  test("with all others, in lines and without a stack", async () => {
    const { code, stderr } = await start({ PORT: "abc", LOG_LEVEL: "loud", TRUSTED_PROXIES: "my-proxy" });
    expect(code).toBe(1);
    for (const variable of ["PORT", "LOG_LEVEL", "TRUSTED_PROXIES"]) expect(stderr).toContain(`  ${variable}`);
    expect(stderr).not.toMatch(/\n\s+at /);
  });
});

test("a database that cannot be reached stops the start with one plain message", async () => {
  const { code, stderr } = await start({
    DATABASE_URL: nowhere,
    AUTH_SECRET: "a secret for tests only, 32 characters",
  });
  expect(code).toBe(1);
  expect(stderr).toBe(
    "The database none at 127.0.0.1:1 can't be used: connect ECONNREFUSED 127.0.0.1:1\nIs it running, and is DATABASE_URL correct?\n",
  );
});
