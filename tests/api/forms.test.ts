import { describe, expect, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { invite } from "#lib/auth/invitations";
import { limits } from "#lib/core/limits";
import { pool } from "#lib/db/client";
import { getFields, readForm, sendForm } from "../support/form.ts";
import { ingest, post, provideOwnedServer } from "../support/server.ts";
import { sessionCookie } from "./client.ts";

const { server, userId, token } = await provideOwnedServer();
const headers = { Cookie: await sessionCookie(server) };

/** A form of a page as it stands there now, with a way to send it later. */
async function makeForm(path: string, button: string) {
  const html = await (await fetch(server.url + path, { headers })).text();
  const form = [...html.matchAll(/<form\b.*?<\/form>/gs)].map(([one]) => one).find((one) => one.includes(button));
  if (!form) throw new Error(`${path} has no form with ${button}`);
  return async (more: Record<string, string> = {}) => {
    const response = await sendForm(server, path, { ...getFields(form), ...more }, headers);
    return { status: response.status, text: await response.text(), location: response.headers.get("location") };
  };
}

const messages = [{ position: 0, role: "user", content: "hello" }];

describe("a form of a page that is old by now", () => {
  test("says that its session was deleted", async () => {
    await ingest(server, token, [{ sourceId: "gone", messages }]);
    const { rows } = await pool().query("select id from trace where source_id = 'gone'");
    const path = `/traces/${rows[0].id}`;
    const star = await makeForm(path, '"Star"');
    const describe = await makeForm(path, 'name="note"');
    await fetch(`${server.url}/api${path}`, { method: "DELETE", headers: { ...headers, Origin: server.url } });
    expect((await star()).status).toBe(404);
    expect((await describe({ title: "a", tags: "b", note: "c" })).status).toBeLessThan(500);
    expect((await star({ id: "no id" })).status).toBe(404);
  });

  test("leads to a project that was merged or taken apart before, or says that there is none", async () => {
    await ingest(server, token, [
      { sourceId: "a", project: "from", messages },
      { sourceId: "b", project: "into", messages },
    ]);
    const projects = () => pool().query("select id from project where name in ('from', 'into') order by name");
    await expect.poll(async () => (await projects()).rowCount, { timeout: 30_000 }).toBe(2);
    const [from, into] = (await projects()).rows.map(({ id }) => id);
    const merge = await makeForm(`/projects/${from}?into=${into}`, ">Merge<");
    const { status, location } = await merge();
    expect(status).toBe(303);
    expect(await merge()).toMatchObject({ status: 303, location: `/projects/${into}?merged=${from}` });
    const undo = await makeForm(location ?? "", ">Undo<");
    expect((await undo()).status).toBe(303);
    expect(await undo()).toMatchObject({ status: 303, location: `/projects/${into}` });
    expect((await merge()).status).toBe(404);
  });
});

describe("a form that is sent twice", () => {
  test("splits a project once, and leads to the new one both times", async () => {
    await ingest(server, token, [
      { sourceId: "c", project: "kept", messages },
      { sourceId: "d", project: "taken", messages },
    ]);
    const projects = () => pool().query("select id from project where name in ('kept', 'taken') order by name");
    await expect.poll(async () => (await projects()).rowCount, { timeout: 30_000 }).toBe(2);
    const [kept, taken] = (await projects()).rows.map(({ id }) => id);
    await (await makeForm(`/projects/${taken}?into=${kept}`, ">Merge<"))();
    const split = await makeForm(`/projects/${kept}`, ">Split off<");
    const alias = { alias: JSON.stringify(["name", "", "taken"]) };
    const { status, location } = await split(alias);
    expect([status, location]).toEqual([303, expect.stringMatching(/^\/projects\/[\da-f-]{36}$/)]);
    expect(await split(alias)).toMatchObject({ status: 303, location });
    expect((await split()).text).toContain("Choose at least one of them.");
    expect((await split({ alias: JSON.stringify(["name", "", "unknown"]) })).status).toBe(200);
  });

  test.each([
    ["Approve", "approved"],
    ["Deny", "denied"],
  ])("decides a login once by %s, and tells so both times; the other one comes too late", async (button, done) => {
    const started = await post(server, "/api/cli/device/start", { machine: "laptop" });
    const { userCode } = (await started.json()) as { userCode: string };
    const path = `/device?code=${userCode}`;
    const html = await (await fetch(server.url + path, { headers })).text();
    const send = (id: string) => sendForm(server, path, getFields(html, id), headers);
    const [own, other] = button === "Approve" ? ["approve", "deny"] : ["deny", "approve"];
    for (const _ of [1, 2]) expect((await send(own)).headers.get("location")).toBe(`/device?done=${done}`);
    expect((await send(other)).headers.get("location")).toBe("/device?done=late");
  });

  test("creates a token once, and shows it both times; the form of a page that is opened again creates another", async () => {
    const fields = { machine: "build-1", ingest: "on" };
    const find = ({ text }: { text: string }) => /spoor_\w{36}/.exec(text)?.[0];
    const send = await makeForm("/devices", ">Create token<");
    const [first, second] = await Promise.all([send(fields), send(fields)]);
    expect(find(first)).toBeDefined();
    expect(find(second)).toBe(find(first));
    expect(find(await (await makeForm("/devices", ">Create token<"))(fields))).not.toBe(find(first));
    expect(find(await send({ ...fields, machine: "build-2" }))).not.toBe(find(first));
    const count = "select count(*)::int as count from cli_token where machine = 'build-1'";
    expect((await pool().query(count)).rows).toEqual([{ count: 2 }]);
    const created =
      "select count(*)::int as count from audit_event where action = 'token_created' and subject like 'build-1 %'";
    expect((await pool().query(created)).rows).toEqual([{ count: 2 }]);
    await pool().query("update cli_token set revoked_at = now() where machine = 'build-1'");
    const again = find(await send(fields));
    expect(again).toBeDefined();
    expect(again).not.toBe(find(first));
  });

  test("creates an invitation and a link once, and shows them both times", async () => {
    await ingest(server, token, [{ sourceId: "shared", messages }]);
    const { rows } = await pool().query("select id from trace where source_id = 'shared'");
    const forms: [string, string, RegExp, Record<string, string>, string][] = [
      ["/settings/invitations", ">Invite<", /sign-up\?invitation=[\w-]{32}/, {}, "invitation"],
      [`/traces/${rows[0].id}/share`, ">Create link<", /\/shared\/[\w-]{36}/, { days: "7" }, "trace_share"],
    ];
    for (const [path, button, link, fields, table] of forms) {
      const count = async () => (await pool().query(`select count(*)::int as count from ${table}`)).rows[0].count;
      const before = await count();
      const send = await makeForm(path, button);
      const [first, second] = await Promise.all([send(fields), send(fields)]);
      expect(link.exec(first.text)?.[0], path).toBeDefined();
      expect(link.exec(second.text)?.[0], path).toBe(link.exec(first.text)?.[0]);
      expect(await count(), path).toBe(before + 1);
    }
  });

  test("creates an account once, and tells who has it to sign in", async () => {
    const { pathname, search } = new URL(await invite(userId, null, operator));
    const account = { name: "Bob", email: "bob@example.org", password: "another horse battery 9" };
    const fields = { ...(await readForm(server, pathname + search)), ...account };
    const send = () => sendForm(server, pathname + search, fields);
    expect((await send()).headers.get("location")).toBe("/traces");
    expect(await (await send()).text()).toContain("have just created your account with it, sign in");
  });
});

describe("a view of the list", () => {
  test("whose name is blank, or which is one too many, is refused with the reason", async () => {
    const keep = await makeForm("/traces?source=codex", "Name of this view");
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
