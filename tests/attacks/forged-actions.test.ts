// Every action of the application's forms and scripts, called with what no page of it sends.
import { readFile } from "node:fs/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { sessionCookie } from "../api/client.ts";
import { makeUser, provideServer } from "../support/server.ts";

const server = await provideServer({ worker: false });
beforeAll(async () => {
  await makeUser();
});

type Action = { id: string; name: string; page: string };

/** The actions of the build, each with a page that has it. */
async function readActions(): Promise<Action[]> {
  const { node } = JSON.parse(await readFile(".next/server/server-reference-manifest.json", "utf8"));
  return Object.entries<{ workers: object; filename: string; exportedName: string }>(node).flatMap(
    ([id, { workers, filename, exportedName }]) => {
      const [worker = ""] = Object.keys(workers);
      const page = worker
        .replace(/^app/, "")
        .replace(/\/page$/, "")
        .replace(/\/\([^/]+\)/g, "")
        .replace(/\[[^\]]+\]/g, "00000000-0000-4000-8000-000000000000");
      return [{ id, name: `${exportedName} of ${filename}`, page: page || "/" }];
    },
  );
}

type Body = { sent: string; body: BodyInit; type?: string };

/** Arguments of actions that scripts call, as React writes them. */
const values = ["[]", "[null]", "[{}]", `["x"]`, "[[]]", "[[1],{}]", `[{},"x",3]`, `["x",{}]`].map(
  (text): Body => ({ sent: text, body: text, type: "text/plain;charset=UTF-8" }),
);

const makeForm = (args: string, fields: Record<string, string>): Body => {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(`_1_${name}`, value);
  form.set("0", args);
  return { sent: args, body: form };
};
const each = (names: string[], value: string) => Object.fromEntries(names.map((name) => [name, value]));

const wrong = each(["selection", "given", "id", "traceId", "mark"], "{");
/** Well-formed, and of nothing. */
const unknown = {
  ...each(["id", "trace", "project", "into", "merged"], crypto.randomUUID()),
  ...{ selection: "{}", given: "{}", mark: "x", until: "tomorrow", days: "7", confirmed: "yes", starred: "true" },
};

/** Forms whose fields are no ids and no JSON, or ids of nothing: some actions take one alone, others after the state that they returned last. */
const forms = [`["$K1"]`, `[{},"$K1"]`].flatMap((args) => [makeForm(args, wrong), makeForm(args, unknown)]);

const takesValues = ({ name }: Action) => /^(load|markSessions|tagSessions)/.test(name);

async function answer({ id, page }: Action, { body, type }: Body, more = {}): Promise<number> {
  const headers = {
    Cookie: await sessionCookie(server),
    Origin: server.url,
    "Next-Action": id,
    Accept: "text/x-component",
    ...(type && { "Content-Type": type }),
    ...more,
  };
  const response = await fetch(server.url + page, { method: "POST", headers, body, redirect: "manual" });
  await response.text();
  return response.status;
}

const actions = await readActions();
/** No browser sends that: Next and the middleware take the origin for this server's. */
const elsewhere = { Origin: "https://evil.example", "X-Forwarded-Host": "evil.example" };

describe("a forged call", () => {
  test("is tried of every action", () => {
    expect(actions.length).toBeGreaterThan(40);
  });

  test.each(actions.filter(takesValues))("of $name is answered without a failure", async (action) => {
    for (const body of values) expect(await answer(action, body), body.sent).toBeLessThan(500);
  });

  test.each(actions.filter((action) => !takesValues(action)))(
    "of $name is answered without a failure",
    async (action) => {
      for (const body of forms) expect(await answer(action, body), body.sent).toBeLessThan(500);
    },
  );

  test.each(actions)("of $name from another origin is answered without a failure", async (action) => {
    const [body] = takesValues(action) ? values : forms;
    if (body) expect(await answer(action, body, elsewhere)).toBeLessThan(500);
  });
});
