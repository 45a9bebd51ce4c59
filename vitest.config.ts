import { defineConfig } from "vitest/config";
import WorkerFirst from "./tests/support/sequence.ts";
import { installTools } from "./tools/install.ts";

installTools();

const shared = {
  resolve: {
    conditions: ["react-server"],
    // In plain Node the condition above makes `server-only` empty; a bundler's error text has no place here.
    alias: { "server-only": new URL("./tests/support/empty.ts", import.meta.url).pathname },
  },
};

/** Gives the run its folder for temporary files; before all others, so that theirs are in it too. */
const scratch = "tests/support/scratch.ts";

/** For files that share a process and make accounts. */
const inOneProcess = ["tests/support/anew.ts", "tests/support/cheap-hashes.ts"];

// Vite sets a BASE_URL of its own ("/") for what it bundles.
const env = { BASE_URL: "http://localhost:3000", LOG_LEVEL: "fatal" };

const onPostgres = {
  env,
  globalSetup: [scratch, "tests/support/postgres.ts"],
  // Three nodes on the processors of one take several times as long.
  testTimeout: process.env.CITUS_DATABASE_URL ? 240_000 : 60_000,
  hookTimeout: 120_000,
};

/** A busy machine takes seconds to start a thread. */
const patient = { poll: { timeout: 15_000 } };

export default defineConfig({
  ...shared,
  test: {
    maxWorkers: 2,
    sequence: { sequencer: WorkerFirst },
    reporters: process.env.CI ? ["default", ["json", { outputFile: "test-results/vitest.json" }]] : ["default"],
    projects: [
      {
        ...shared,
        test: {
          env,
          name: "unit",
          expect: patient,
          isolate: false,
          include: ["tests/unit/**/*.test.ts"],
          testTimeout: 30_000,
          globalSetup: scratch,
        },
      },
      {
        ...shared,
        test: {
          env,
          name: "cli",
          expect: patient,
          isolate: false,
          include: ["tests/cli/**/*.test.ts"],
          setupFiles: ["tests/support/as-client.ts"],
          testTimeout: 30_000,
          globalSetup: [scratch, "tests/support/built-client.ts"],
        },
      },
      {
        ...shared,
        // In these the application runs in the test's own process: its statements are checked.
        test: {
          ...onPostgres,
          name: "jobs",
          expect: patient,
          isolate: false,
          include: ["tests/jobs/**/*.test.ts"],
          setupFiles: [...inOneProcess, "tests/growth/watch.ts"],
        },
      },
      // `npm run test:long`. After all others, one file at a time: some of its figures are response times under attack.
      {
        ...shared,
        test: {
          ...onPostgres,
          name: "long",
          include: ["tests/{attacks,deploy,faults,long}/**/*.test.ts"],
          setupFiles: ["tests/support/as-client.ts"],
          testTimeout: 120_000,
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
      {
        ...shared,
        test: {
          ...onPostgres,
          name: "api",
          expect: patient,
          isolate: false,
          include: ["tests/api/**/*.test.ts"],
          setupFiles: inOneProcess,
        },
      },
      // On a distributed database alone: `npm run test:growth`. After all others, one file at a time: one kills a node.
      ...(process.env.CITUS_DATABASE_URL
        ? [
            {
              ...shared,
              test: {
                ...onPostgres,
                name: "growth",
                include: ["tests/growth/**/*.test.ts"],
                fileParallelism: false,
                sequence: { groupOrder: 1 },
              },
            },
          ]
        : []),
      {
        ...shared,
        test: {
          ...onPostgres,
          name: "e2e",
          isolate: false,
          // A click, its action and the page anew take longer than a second where others use the processors.
          expect: patient,
          include: ["tests/e2e/**/*.test.ts"],
          setupFiles: inOneProcess,
          globalSetup: [...onPostgres.globalSetup, "tests/support/chromium.ts"],
        },
      },
    ],
  },
});
