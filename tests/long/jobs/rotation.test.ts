import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { requiredEnv, setEnv } from "#lib/core/env";
import { rotateKeys } from "#lib/ingest/raw/rotation";
import { makeBody, makeKey, provideStore, use } from "../../jobs/rotating.ts";
import { testEnvironment } from "../../support/database.ts";
import { waitingForLocks } from "../../support/meanwhile.ts";

const { s3, send, expectReadable, expectProcessed, hold } = await provideStore();
const [old, first] = [makeKey(), makeKey()];

test("a call that is killed half-way leaves all readable, and the next one ends its work", async () => {
  // The third is in the database, and has more than is sealed in one piece.
  const bodies = [20_000, 300_000, 3_000_000, 30_000, 300_001].map(makeBody);
  const jobs: string[] = [];
  use(old);
  for (const [index, body] of bodies.entries()) {
    setEnv({ UPLOAD_STORE: index === 2 ? "postgres" : "s3" });
    jobs.push(await send(body));
  }
  const letGo = await hold(jobs[2]);
  const command = spawn(process.execPath, ["--conditions=react-server", "server/commands/admin.ts", "rotate-keys"], {
    env: {
      ...process.env,
      ...testEnvironment,
      ...s3.settings,
      DATABASE_URL: requiredEnv("DATABASE_URL"),
      ENCRYPTION_KEY: `${first},${old}`,
    },
    stdio: "ignore",
  });
  await expect.poll(waitingForLocks, { timeout: 30_000 }).toBe(1);
  command.kill("SIGKILL");
  await once(command, "exit");
  letGo();
  use(first, old);
  await expectReadable(jobs, bodies);
  expect(await rotateKeys()).toEqual({ sealed: 3, left: 0, unreadable: 0 });
  expect(await rotateKeys()).toEqual({ sealed: 0, left: 0, unreadable: 0 });
  use(first);
  await expectReadable(jobs, bodies);
  await expectProcessed(jobs);
});
