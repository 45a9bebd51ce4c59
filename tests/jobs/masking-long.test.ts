import { expect, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { listFindings } from "#lib/findings/findings";
import { decide } from "#lib/findings/rulings";
import { findingsQuery } from "#lib/findings/schema";
import { maskStored } from "#lib/ingest/masking/stored";
import { accountTraces } from "#lib/ledger/account";
import { provideOwner } from "../support/server.ts";
import { messages, uploadsOf } from "./uploads.ts";

const { userId } = await provideOwner();
const { send, stored } = uploadsOf(userId);

test("long messages are masked beside the thread that answers others", async () => {
  const password = "Tr0ub4dorx3zyx9";
  const long = "x\nsecret-".repeat(200_000);
  await send({
    sourceId: "long",
    title: "t",
    messages: messages(`password: "${password}"`, long, `it is ${password}`),
  });
  await accountTraces(60);
  const { findings } = await listFindings(userId, findingsQuery.parse({ state: "open" }));
  const { kind = "", mark = "" } = findings.find((one) => one.kind === "assignment") ?? {};
  await decide(userId, { kind, mark, verdict: "mask" }, operator);
  const [whole, own] = [process.cpuUsage(), process.threadCpuUsage()];
  expect(await maskStored(10)).toBe(1);
  const msOf = ({ user, system }: { user: number; system: number }) => (user + system) / 1000;
  const [all, here] = [msOf(process.cpuUsage(whole)), msOf(process.threadCpuUsage(own))];
  const { contents = [] } = (await stored("long")) ?? {};
  const placeholder = `[redacted:assignment:${mark}]`;
  expect(contents.map((one) => one.slice(0, 60))).toEqual([
    `password: "${placeholder}"`,
    long.slice(0, 60),
    `it is ${placeholder}`,
  ]);
  expect(here).toBeLessThan(all / 2);
});
