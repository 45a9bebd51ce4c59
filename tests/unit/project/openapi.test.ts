import { readdir } from "node:fs/promises";
import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, test } from "vitest";
import { openApiDocument } from "#lib/api/openapi";
import { operations } from "#lib/api/operations";
import { listErrors } from "#lib/api/problems";
import { errorTable } from "#lib/core/errors";
import { readReference } from "../../../app/docs/reference.ts";
import { shapes } from "../../support/openapi.ts";

/** The path of a route's file as the document writes it: `api/ingest/[jobId]/route.ts` as `/api/ingest/{jobId}`. */
const makePath = (file: string) =>
  `/${file
    .replace(/\([^)]*\)\//g, "")
    .replace(/\/route\.ts$/, "")
    .replace(/\[(?:\.\.\.)?(\w+)\]/g, "{$1}")}`;

const files = (await readdir("app", { recursive: true })).filter((file) => /(^|\/)route\.tsx?$/.test(file)).toSorted();
const unknownPaths = "api/[[...path]]/route.ts";
/** It delivers a file, as a page does. */
const fileRoute = "spoor.mjs/route.ts";

test("the document is valid OpenAPI 3.1", async () => {
  const result = await new Validator().validate(JSON.parse(JSON.stringify(openApiDocument())));
  expect(result.errors ?? []).toEqual([]);
  expect(result.valid).toBe(true);
});

describe("route handlers", () => {
  test("are under /api, except for the one that delivers the client", () => {
    expect(files.filter((file) => !file.startsWith("api/"))).toEqual([fileRoute]);
  });

  test("declare an operation of the document, method by method, and every operation has its handler", async () => {
    expect(files).toContain(unknownPaths);
    const declared = new Map<string, unknown>();
    for (const file of files.filter((one) => one !== unknownPaths && one !== fileRoute)) {
      const route = (await import(/* @vite-ignore */ `../../../app/${file}`)) as Record<string, { declared?: object }>;
      for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"]) {
        const handler = route[method];
        if (handler?.declared) declared.set(`${method} ${makePath(file)}`, handler.declared);
      }
    }
    const described = operations.flatMap((one) => one.methods.map((method) => [`${method} ${one.path}`, one] as const));
    expect([...declared.keys()].toSorted()).toEqual(described.map(([name]) => name).toSorted());
    for (const [name, operation] of described) {
      if (!operation.about.foreign) expect(declared.get(name), name).toBe(operation);
    }
  }, 60_000); // it loads every route
});

test("the document has each operation once, with every status that it may answer", () => {
  const { paths = {} } = openApiDocument();
  const ids = Object.values(paths).flatMap((item) =>
    ["get", "post", "put", "patch", "delete"].flatMap((method) => item[method as "get"]?.operationId ?? []),
  );
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.length).toBe(operations.flatMap(({ methods }) => methods).length);
  for (const operation of operations) {
    const item = paths[operation.path]?.[operation.methods[0]?.toLowerCase() as "get"];
    const wanted = [
      ...(operation.about.foreign ? [] : ["default"]),
      ...Object.keys(operation.about.answers),
      ...Object.keys(listErrors(operation)).map((code) => String(errorTable[code as "internal"].status)),
    ];
    expect(Object.keys(item?.responses ?? {}).toSorted()).toEqual([...new Set(wanted)].toSorted());
  }
});

test("every summary begins with a verb", () => {
  const verbs =
    /^(Call|Change|Check|Count|Delete|Download|Exchange|Export|Find|Get|List|Poll|Process|Read|Register|Rename|Report|Revoke|Send|Start|Upload) /;
  expect(operations.map(({ about }) => about.summary).filter((summary) => !verbs.test(summary))).toEqual([]);
});

test("every example, of a request, a response or an error, has the shape that the document gives it", () => {
  const { examples, findFaults } = shapes();
  expect(examples.length).toBeGreaterThan(100);
  expect(examples.flatMap(({ where, schema, value }) => findFaults(where, schema, value))).toEqual([]);
}, 60_000);

test("an example that is wrong is found out", () => {
  const { findFaults, getSchema } = shapes();
  const answer = getSchema("/api/ingest", "post", "202");
  expect(findFaults("x", answer, { ok: true, jobId: "no uuid", status: "queued" })).not.toEqual([]);
  expect(findFaults("x", answer, { ok: true, jobId: crypto.randomUUID(), status: "queued", more: 1 })).not.toEqual([]);
});

test("every command of the reference defines the variables that it uses", () => {
  const entries = readReference().flatMap(({ entries }) => entries);
  expect(entries.length).toBeGreaterThan(20);
  for (const { id, command } of entries) {
    const lines = command.split("\n");
    const first = lines.findIndex((line) => line.startsWith("curl "));
    const defined = lines.slice(0, first).map((line) => line.split("=", 1)[0]);
    const used = [
      ...lines
        .slice(first)
        .join("\n")
        .matchAll(/\$([A-Z_]+)/g),
    ].map(([, name]) => name);
    expect({ id, defined: defined.toSorted() }).toEqual({ id, defined: [...new Set(used)].toSorted() });
  }
});

test("the bounds of text that is trimmed or refined are described", () => {
  const document = JSON.parse(JSON.stringify(openApiDocument())) as Described;
  const makeBody = (path: string) => document.paths[path]?.post?.requestBody?.content["application/json"]?.schema;
  const machine = makeBody("/api/cli/device/start")?.properties.machine;
  expect(machine).toMatchObject({ type: "string", minLength: 1, maxLength: 256 });
  const report = makeBody("/api/cli/telemetry")?.properties;
  expect(report?.deviceId).toMatchObject({ minLength: 1, maxLength: 128 });
  expect(report?.diagnostics).toMatchObject({ items: { properties: { adapter: { minLength: 1, maxLength: 64 } } } });
});

type Described = {
  paths: Record<
    string,
    { post?: { requestBody?: { content: Record<string, { schema: { properties: Record<string, object> } }> } } }
  >;
};
