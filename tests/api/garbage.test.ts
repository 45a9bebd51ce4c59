// Every page, opened with parameters, cookies and parts of its path that no page of ours writes.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { isLong } from "../support/long.ts";
import { ingest, provideOwnedServer } from "../support/server.ts";
import { sessionCookie } from "./client.ts";

const { server, token } = await provideOwnedServer();
const signedIn = await sessionCookie(server);
await ingest(server, token, [{ sourceId: "a", messages: [{ position: 0, role: "user", content: "hello" }] }]);
const readId = async (sql: string) => String((await pool().query<{ id: string }>(sql)).rows[0]?.id);
const parts: Record<string, string> = {
  "/traces/[id]": `/traces/${await readId("select id from trace")}`,
  "[jobId]": await readId("select id from ingest_job"),
  "[id]": crypto.randomUUID(),
  "[token]": "a".repeat(43),
  "[...path]": "github.com/a/b/1",
};

/** The pages of the build, with what is in a dynamic one's path. */
async function readPages(): Promise<{ name: string; path: string }[]> {
  const manifest = JSON.parse(await readFile(".next/server/app-paths-manifest.json", "utf8"));
  const names = Object.keys(manifest).filter((name) => name.endsWith("/page"));
  return names.map((file) => {
    const name = file.replace(/\/page$/, "").replace(/\/\([^/]+\)/g, "") || "/";
    return { name, path: Object.entries(parts).reduce((path, [part, value]) => path.replace(part, value), name) };
  });
}

/** The names of what pages read from addresses, as they stand in their sources, and those that every object has. */
async function readNames(): Promise<string[]> {
  const files = (await readdir("app", { recursive: true })).filter((name) => /\.tsx?$/.test(name));
  const texts = await Promise.all(files.map((name) => readFile(join("app", name), "utf8")));
  const shapes = /(?:query|params|asked|given)\)?\??\.(?:get\(")?(\w+)|[?&](\w+)=|\bname="(\w+)"/gi;
  const found = texts.flatMap((text) => [...text.matchAll(shapes)].map(([, ...names]) => names.find(Boolean) ?? ""));
  return [...new Set([...found, "toString", "constructor", "__proto__", "then", "toJSON"])];
}

const values = [
  ..."%00 %ed%a0%80 -1 1e999 99999999999999999999 2026-13-45 null %5B%5D %7B%22a%22%3A %22%3E%3C ..%2F..".split(" "),
  ..."00000000-0000-4000-8000-000000000000 AAAA eyJhIjoxfQ %E2%80%AE 2147483648 %2B275760-09-13 https%3A%2F%2F".split(
    " ",
  ),
  "x".repeat(400),
];
/** A value for a name, another one each round. */
const valueAt = (place: number) => values[place % values.length] ?? "";

const [pages, names] = [await readPages(), await readNames()];

async function expectNoFailure(path: string, Cookie = signedIn): Promise<void> {
  const response = await fetch(server.url + path, { headers: { Cookie }, redirect: "manual" });
  // A page that fails while it is sent has its status already.
  const failed = /data-dgst="(?!NEXT_)[^"]*"/.exec(await response.text())?.[0];
  expect([path, response.status, failed]).not.toEqual([path, 500, failed]);
  expect([path, failed]).toEqual([path, undefined]);
}

test("are tried all", () => {
  expect(pages.length).toBeGreaterThan(30);
  for (const name of ["code", "ticket", "cursor", "from", "done"]) expect(names).toContain(name);
  const tried = pages.filter(isDynamic).flatMap(({ name }) => some(values, name, valuesEvery));
  expect(new Set(tried)).toEqual(new Set(values));
});

const isDynamic = ({ name }: { name: string }) => name.includes("[");
/** A quick run tries every fifth value in a page's path. */
const valuesEvery = 5;

/** Of some values each in a long run, else every so many, from another one on for each page: all are tried on some page. */
const some = <T>(all: T[], name: string, every: number): T[] =>
  all.filter((_, place) => isLong || (place + name.length) % every === 0);

test.each(pages)("$name answers what it can't read without a failure", async ({ name, path }) => {
  for (const round of some([0, 1, 2], name, 3)) {
    const query = names.map((one, place) => `${one}=${valueAt(place * 7 + round * 5 + name.length)}`);
    await expectNoFailure(`${path}?${query.join("&")}`);
  }
  await expectNoFailure(
    `${path}?${names
      .map((one) => `${one}=1&${one}=2`)
      .slice(0, 120)
      .join("&")}`,
  );
  for (const value of some(["%00", "-1", "{", "x".repeat(400)], name, 4)) {
    const cookies = ["spoor_tz", "spoor_theme", "spoor_keys", "spoor_outline", "authlib.two_factor", "authlib.state"];
    await expectNoFailure(path, [signedIn, ...cookies.map((one) => `${one}=${value}`)].join("; "));
    await expectNoFailure(path, `authlib.session_token=${value}`);
  }
  if (isDynamic({ name }))
    for (const value of some(values, name, valuesEvery))
      await expectNoFailure(name.replace(/\[[^\]]+\]/, value.replaceAll(".", "%2e")));
});
