import { expect, test } from "vitest";
import { noteVisit, readVisit } from "#lib/auth/sign-in/sign-ins";
import { silentMachines } from "#lib/auth/tokens";
import { provideOwner } from "../support/server.ts";

const { userId } = await provideOwner();
const at = (text: string) => new Date(`2026-11-20T${text}:00Z`);

test("a visit shows what is new since the one before, for half an hour after each look, and reading notes nothing", async () => {
  expect((await readVisit(userId, at("08:00"))).since).toBeUndefined();
  await noteVisit(userId, at("08:00"));
  expect((await readVisit(userId, at("08:20"))).since).toBeUndefined();
  expect((await readVisit(userId, at("09:00"))).since).toEqual(at("08:00"));
  await noteVisit(userId, at("09:00"));
  await noteVisit(userId, at("09:25"));
  expect((await readVisit(userId, at("09:50"))).since).toEqual(at("08:00"));
  expect((await readVisit(userId, at("10:00"))).since).toEqual(at("09:25"));
});

test("of visits noted at once none loses what the one before had seen", async () => {
  await noteVisit(userId, at("12:00"));
  await Promise.all(Array.from({ length: 8 }, () => noteVisit(userId, at("14:00"))));
  expect((await readVisit(userId, at("14:01"))).since).toEqual(at("12:00"));
});

test("a machine is silent when none of its tokens was used for a week", () => {
  const now = at("12:00");
  const daysAgo = (days: number) => new Date(now.getTime() - days * 86_400_000);
  const tokens = [
    { machine: "laptop", lastUsedAt: daysAgo(30) },
    { machine: "laptop", lastUsedAt: daysAgo(1) },
    { machine: "tower", lastUsedAt: daysAgo(8) },
    { machine: "tower", lastUsedAt: null },
    { machine: "board", lastUsedAt: daysAgo(20) },
    { machine: "new", lastUsedAt: null },
  ];
  expect(silentMachines(tokens, now).map(({ machine }) => machine)).toEqual(["board", "tower"]);
});
