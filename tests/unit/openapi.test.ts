import { readdir } from "node:fs/promises";
import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, test } from "vitest";
import { errorsOf, openApiDocument, operations } from "#lib/api/openapi";
import { errorTable } from "#lib/errors";
import { shapes } from "../support/openapi.ts";

/** The path of a route's file as the document writes it, `app/api/ingest/[jobId]/route.ts` as `/api/ingest/{jobId}`. */
const pathOf = (file: string) => `/api/${file.replace(/\/route\.ts$/, "").replace(/\[(?:\.\.\.)?(\w+)\]/g, "{$1}")}`;

const files = (await readdir("app/api", { recursive: true })).filter((file) => file.endsWith("route.ts"));
const unknownPaths = "[[...path]]/route.ts";

test("the document is valid OpenAPI 3.1", async () => {
  const result = await new Validator().validate(JSON.parse(JSON.stringify(openApiDocument())));
  expect(result.errors ?? []).toEqual([]);
  expect(result.valid).toBe(true);
});

test("every method of every route's file is described, by the very operation it was declared with, and nothing else is", async () => {
  expect(files).toContain(unknownPaths);
  const declared = new Map<string, unknown>();
  for (const file of files.filter((one) => one !== unknownPaths)) {
    const route = (await import(/* @vite-ignore */ `../../app/api/${file}`)) as Record<string, { declared?: object }>;
    for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"]) {
      const handler = route[method];
      // better-auth's own route is not made by `endpoint`.
      if (handler?.declared || (handler && file.startsWith("auth/"))) {
        declared.set(`${method} ${pathOf(file)}`, handler.declared);
      }
    }
  }
  const described = operations.flatMap((one) => one.methods.map((method) => [`${method} ${one.path}`, one] as const));
  expect([...declared.keys()].toSorted()).toEqual(described.map(([name]) => name).toSorted());
  for (const [name, operation] of described) {
    if (!operation.path.startsWith("/api/auth/")) expect(declared.get(name), name).toBe(operation);
  }
}, 60_000); // it loads every route

test("the document has each operation once, with every status it may answer", () => {
  const { paths = {} } = openApiDocument();
  const ids = Object.values(paths).flatMap((item) =>
    ["get", "post", "delete"].flatMap((method) => item[method as "get"]?.operationId ?? []),
  );
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.length).toBe(operations.flatMap(({ methods }) => methods).length);
  for (const operation of operations) {
    const item = paths[operation.path]?.[operation.methods[0]?.toLowerCase() as "get"];
    const wanted = [
      ...Object.keys(operation.about.answers),
      ...Object.keys(errorsOf(operation)).map((code) => String(errorTable[code as "internal"].status)),
    ];
    expect(Object.keys(item?.responses ?? {}).toSorted()).toEqual([...new Set(wanted)].toSorted());
  }
});

test("every example, of a request, an answer or an error, has the shape that the document gives it", () => {
  const { examples, faultsOf } = shapes();
  expect(examples.length).toBeGreaterThan(100);
  expect(examples.flatMap(({ where, schema, value }) => faultsOf(where, schema, value))).toEqual([]);
}, 60_000);

test("an example that is wrong is found out", () => {
  const { faultsOf, schemaOf } = shapes();
  const answer = schemaOf("/api/ingest", "post", "202");
  expect(faultsOf("x", answer, { ok: true, jobId: "no uuid", status: "queued" })).not.toEqual([]);
  expect(faultsOf("x", answer, { ok: true, jobId: crypto.randomUUID(), status: "queued", more: 1 })).not.toEqual([]);
});
