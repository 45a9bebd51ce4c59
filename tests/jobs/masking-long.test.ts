import pg from "pg";
import { expect, onTestFinished, test, vi } from "vitest";
import { operator } from "#lib/auth/audit";
import { pool } from "#lib/db/client";
import { listFindings } from "#lib/findings/findings";
import { decide } from "#lib/findings/rulings";
import { findingsQuery } from "#lib/findings/schema";
import { maskStored } from "#lib/ingest/masking/stored";
import { accountTraces } from "#lib/ledger/account";
import { provideOwner } from "../support/server.ts";
import { getUploads, messages } from "./uploads.ts";

const { userId } = await provideOwner();
const { send, stored } = getUploads(userId);

test("many messages that have a secret hold their session for as many statements as pages, whatever else stands in them", async () => {
  const password = "Tr0ub4dorx3zyx7";
  const odd = ['"{a,b}"', "a\\b", "NULL", "\u2028\ud83d\ude80", "'", ""];
  const said = Array.from({ length: 1200 }, (_, n) => `password: "${password}" ${n} ${odd[n % odd.length]}`);
  await send({
    sourceId: "many",
    messages: messages(...said).map((one, n) => ({
      ...one,
      ...(n % 2 === 0 && { metadata: { text: one.content, n } }),
    })),
  });
  await accountTraces(60);
  const { findings } = await listFindings(userId, findingsQuery.parse({ state: "open" }));
  const { kind = "", mark = "" } = findings.find((one) => one.kind === "assignment") ?? {};
  await decide(userId, { kind, mark, verdict: "mask" }, operator);
  const asked = vi.spyOn(pg.Client.prototype, "query");
  onTestFinished(() => asked.mockRestore());
  expect(await maskStored(10)).toBe(1);
  const written = asked.mock.calls.filter(([text]) => String(text).startsWith("update message set"));
  expect(written).toHaveLength(3);
  const { contents = [], id = "" } = (await stored("many")) ?? {};
  const placeholder = `[redacted:assignment:${mark}]`;
  expect(contents).toEqual(said.slice(0, contents.length).map((one) => one.replace(password, placeholder)));
  const { rows } = await pool().query(
    "select count(metadata)::int as some, count(*) filter (where metadata->>'text' = content)::int as same from message where trace_id = $1",
    [id],
  );
  expect(rows[0]).toEqual({ some: 600, same: 600 });
});
