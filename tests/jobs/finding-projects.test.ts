import { expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { findProjects } from "#lib/projects/queries";
import { provideOwner } from "../support/server.ts";

const { userId } = await provideOwner();

test("a project is found by the characters of its name, each as it is", async () => {
  await pool().query(
    "insert into project (user_id, id, name) select $1, gen_random_uuid(), name from unnest($2::text[]) as given (name)",
    [userId, ["plain", "snake_case", "100 %"]],
  );
  const found = async (...words: string[]) => (await findProjects(userId, words)).map(({ name }) => name);
  expect(await found("_")).toEqual(["snake_case"]);
  expect(await found("%")).toEqual(["100 %"]);
  expect(await found("AI", "pl")).toEqual(["plain"]);
});
