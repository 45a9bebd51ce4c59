import { createHash } from "node:crypto";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { openApiDocument } from "#lib/api/openapi";
import { operations } from "#lib/api/operations";

/** The bytes of the document's examples of a path, whose hash it names. By default a picture. */
export function documentedBytes(path = ""): { bytes: Buffer<ArrayBuffer>; sha256: string } {
  const withBytes = operations.filter(({ about }) => about.raw);
  const { raw } = (withBytes.find((one) => one.path === path) ?? withBytes[0])?.about ?? {};
  const bytes = Buffer.from(raw?.example.base64 ?? "", "base64");
  return { bytes, sha256: createHash("sha256").update(bytes).digest("hex") };
}

type Media = { schema?: object; examples?: Record<string, { value: unknown }> };
type Content = { content?: Record<string, Media>; headers?: Record<string, { example?: string }> };
type Described = { requestBody?: Content; responses: Record<string, Content> };
type Example = { where: string; schema: object; value: unknown };

/**
 * Checks values against an OpenAPI document.
 *
 * @param served the document; by default this process's
 */
export function shapes(served: object = openApiDocument()) {
  const document = served as { paths: Record<string, Record<string, Described>> };
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema({ $id: "document", ...document });

  const checks = new Map<string, ValidateFunction>();
  /** Checks values against a schema of the document and caches the compiled check, since many places share a schema. */
  const makeCheck = (schema: object): ValidateFunction => {
    const whole = JSON.stringify(schema).replaceAll('"#/', '"document#/');
    const check = checks.get(whole) ?? ajv.compile(JSON.parse(whole));
    checks.set(whole, check);
    return check;
  };

  const findFaults = (where: string, schema: object, value: unknown): string[] => {
    const check = makeCheck(schema);
    if (check(value)) return [];
    return (check.errors ?? []).map(({ instancePath, message }) => `${where}${instancePath}: ${message}`);
  };

  const listExamples = (where: string, { content = {} }: Content): Example[] =>
    Object.entries(content).flatMap(([type, { schema = {}, examples = {} }]) =>
      Object.entries(examples).map(([name, { value }]) => ({ where: `${where} ${type} ${name}`, schema, value })),
    );

  const examples = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, { requestBody, responses }]) => [
      ...(requestBody ? listExamples(`${method} ${path}`, requestBody) : []),
      ...Object.entries(responses).flatMap(([status, one]) => listExamples(`${method} ${path} ${status}`, one)),
    ]),
  );

  const getAnswer = (path: string, method: string, status: string): Content | undefined =>
    document.paths[path]?.[method]?.responses[status];

  /** Finds the schema of a response's first media type. */
  const getSchema = (path: string, method: string, status: string): object =>
    Object.values(getAnswer(path, method, status)?.content ?? {})[0]?.schema ?? {};

  return { examples, findFaults, getSchema, getAnswer };
}
