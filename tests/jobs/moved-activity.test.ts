import { expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { accountTraces } from "#lib/ledger/account";
import { provideOwner } from "../support/server.ts";
import { getUploads } from "./uploads.ts";

const { userId } = await provideOwner();
const { send } = getUploads(userId);

const account = () => accountTraces(30);
const session = (sourceId: string, metadata: object, messages: object[]) => ({
  source: "claude-code",
  sourceId,
  metadata,
  messages,
});

test("a session goes down in the list, with all above it, when what was active later moves to another one", async () => {
  const at = (hour: string) => [{ position: 0, content: "w", createdAt: `2026-03-02T${hour}:00:00Z` }];
  await send(session("main", {}, at("10")), session("other", {}, at("11")));
  await send(session("a", { parent: "main" }, at("12")), session("b", { parent: "a" }, at("13")));
  await send(session("leaf", { parent: "b" }, at("15")));
  await account();
  const latest = async () => {
    const { rows } = await pool().query("select source_id, children_at from trace order by 1");
    return Object.fromEntries(rows.map((row) => [row.source_id, row.children_at?.toISOString().slice(11, 13)]));
  };
  expect(await latest()).toMatchObject({ main: "15", a: "15", b: "15", other: undefined });
  await send(session("leaf", { parent: "other" }, at("15")));
  await account();
  expect(await latest()).toMatchObject({ main: "13", a: "13", b: undefined, other: "15" });
  await send(session("b", { parent: "other" }, at("13")), session("a", { parent: "main" }, at("12")));
  await account();
  expect(await latest()).toMatchObject({ main: "12", a: undefined, b: undefined, other: "15" });
  await send(session("leaf", { parent: "a" }, at("15")));
  await account();
  expect(await latest()).toMatchObject({ main: "15", a: "15", b: undefined, other: "13" });
});
