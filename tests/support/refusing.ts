import { onTestFinished } from "vitest";
import { pool } from "#lib/db/client";

/**
 * Makes PostgreSQL refuse changes of rows until the returned function is called or the test ends.
 *
 * @param change such as "insert on trace"
 * @param options `when` is a condition of the trigger, `message` the error's text, `code` its SQLSTATE
 */
export async function refuse(
  change: string,
  { when = "true", message = "refused", code = "P0001" } = {},
): Promise<() => Promise<void>> {
  await pool().query(`create function refuse() returns trigger language plpgsql as
    $$ begin raise '${message}' using errcode = '${code}'; end $$`);
  const allow = async () => {
    await pool().query("drop function if exists refuse cascade");
  };
  onTestFinished(allow);
  await pool().query(`create trigger refuse before ${change} for each row when (${when}) execute function refuse()`);
  return allow;
}
