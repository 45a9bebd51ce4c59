import { describe, expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { limits } from "#lib/limits";
import { fieldsOf, sendForm } from "../support/form.ts";
import { provideOwnedServer } from "../support/server.ts";
import { sessionCookie } from "./client.ts";

const { server, userId } = await provideOwnedServer();
const headers = { Cookie: await sessionCookie(server) };

/** A form of a page as it stands there now, with a way to send it later. */
async function formOf(path: string, button: string) {
  const html = await (await fetch(server.url + path, { headers })).text();
  const form = [...html.matchAll(/<form\b.*?<\/form>/gs)].map(([one]) => one).find((one) => one.includes(button));
  if (!form) throw new Error(`${path} has no form with ${button}`);
  return async (more: Record<string, string> = {}) => {
    const response = await sendForm(server, path, { ...fieldsOf(form), ...more }, headers);
    return { status: response.status, text: await response.text(), location: response.headers.get("location") };
  };
}

describe("a view of the list", () => {
  test("whose name is blank, or which is one too many, is refused with the reason", async () => {
    const keep = await formOf("/traces?source=codex", "Name of this view");
    expect(await keep({ name: "  " })).toMatchObject({ status: 200, text: expect.stringContaining("Enter a name.") });
    const name = { name: "\u202efor agents" };
    expect(await keep(name)).toMatchObject({ status: 303, location: "/traces?source=codex" });
    await pool().query(
      "insert into saved_view (user_id, name, query) select $1, 'view ' || place, 'q=x' from generate_series(2, $2) place",
      [userId, limits.traces.views],
    );
    const more = await keep({ name: "one too many" });
    expect(more).toMatchObject({ status: 200, text: expect.stringContaining("Remove one first.") });
    expect((await keep(name)).status).toBe(303);
  });
});
