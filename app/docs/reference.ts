// What the page of the API's reference shows, made of the same document that programs read.
import { openApiDocument } from "#lib/api/openapi";

/** As much of a JSON Schema as is shown. */
type Schema = {
  $ref?: string;
  type?: string;
  format?: string;
  const?: unknown;
  enum?: unknown[];
  default?: unknown;
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  maxItems?: number;
};

type Content = Record<string, { schema?: Schema; examples?: Record<string, { value: unknown }> }>;
type Parameter = {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema: Schema;
  example?: unknown;
};
type Described = {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  security: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { content: Content };
  responses: Record<
    string,
    { description: string; headers?: Record<string, { description: string }>; content?: Content }
  >;
};

/** A field of a body, or a parameter: its path (`traces[].sourceId`), and what it may be. */
export type Field = { path: string; required: boolean; type: string; text: string };

export type Answer = { status: string; text: string; headers: string[]; example: string | undefined; isError: boolean };

export type Entry = {
  id: string;
  method: string;
  path: string;
  summary: string;
  text: string;
  opens: string;
  parameters: Field[];
  sent: Field[];
  returned: Field[];
  curl: string;
  answers: Answer[];
};

const document = () =>
  openApiDocument() as unknown as {
    servers: { url: string }[];
    info: { description: string };
    tags: { name: string; description: string }[];
    paths: Record<string, Record<string, Described>>;
    components: { schemas: Record<string, Schema> };
  };

export const introduction = () => document().info.description.split("\n\n");

/** The groups in their order, each with its operations. */
export function readReference(): { name: string; text: string; entries: Entry[] }[] {
  const { tags, paths } = document();
  const all = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => method !== "options")
      .map(([method, operation]) => ({ tag: operation.tags[0], entry: entryOf(path, method, operation) })),
  );
  return tags.map(({ name, description }) => ({
    name,
    text: description,
    entries: merged(all.filter(({ tag }) => tag === name).map(({ entry }) => entry)),
  }));
}

/** What a path does alike for several methods is one entry. */
function merged(entries: Entry[]): Entry[] {
  return [...Map.groupBy(entries, ({ path, summary }) => `${path} ${summary}`).values()].flatMap(([first, ...more]) =>
    first ? { ...first, method: [first, ...more].map(({ method }) => method).join(", ") } : [],
  );
}

function entryOf(path: string, method: string, operation: Described): Entry {
  const success = Object.entries(operation.responses).find(([status]) => Number(status) < 300)?.[1];
  return {
    id: operation.operationId,
    method: method.toUpperCase(),
    path,
    summary: operation.summary,
    text: operation.description,
    opens: opens(operation.security),
    parameters: (operation.parameters ?? []).map(({ name, in: place, required, description, schema }) => ({
      path: name,
      required: required ?? false,
      type: typeOf(schema),
      text: [place === "header" ? "A header." : "", description ?? ""].filter(Boolean).join(" "),
    })),
    sent: fieldsOf(firstSchema(operation.requestBody?.content)),
    returned: fieldsOf(firstSchema(success?.content)),
    curl: curlOf(path, method.toUpperCase(), operation),
    answers: Object.entries(operation.responses).map(([status, { description, headers, content }]) => ({
      status,
      text: description,
      headers: Object.keys(headers ?? {}).filter((name) => !["X-Request-Id", "Cache-Control"].includes(name)),
      example: Number(status) < 400 || !content?.["application/problem+json"] ? exampleOf(content) : undefined,
      isError: Number(status) >= 400,
    })),
  };
}

const firstSchema = (content: Content = {}): Schema | undefined => Object.values(content)[0]?.schema;

function exampleOf(content: Content = {}): string | undefined {
  const [example] = Object.values(Object.values(content)[0]?.examples ?? {});
  if (!example || example.value === null) return undefined;
  return typeof example.value === "string" ? example.value.trimEnd() : JSON.stringify(example.value, null, 2);
}

function opens(security: Record<string, string[]>[]): string {
  const names: Record<string, string> = {
    token: "a token",
    session: "a browser's session",
    operatorSecret: "the operator's secret",
  };
  const ways = security.flatMap((way) => names[Object.keys(way)[0] ?? ""] ?? []);
  if (ways.length === 0) return "Open to everybody.";
  return ways.length < security.length
    ? `Open to everybody; takes ${ways.join(" or ")}.`
    : `Needs ${ways.join(" or ")}.`;
}

const resolve = (schema: Schema): Schema => {
  if (!schema.$ref) return schema;
  return document().components.schemas[schema.$ref.split("/").at(-1) ?? ""] ?? {};
};

/** Every field of an object, those of objects and lists within it too. */
function fieldsOf(given: Schema | undefined, prefix = ""): Field[] {
  if (!given) return [];
  const schema = resolve(given);
  if (schema.items) return fieldsOf(schema.items, `${prefix}[]`);
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const path = prefix ? `${prefix}.${name}` : name;
    const own = resolve(property);
    const field = {
      path,
      required: schema.required?.includes(name) ?? false,
      type: typeOf(own),
      text: own.description ?? "",
    };
    return [field, ...fieldsOf(own, path)];
  });
}

/** What a value may be, in words: `string, 1 to 512 long`. */
function typeOf(given: Schema): string {
  const schema = resolve(given);
  const either = schema.anyOf ?? schema.oneOf;
  if (either) return either.map(typeOf).join(" or ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(", ");
  const base = schema.type === "array" ? "list" : (schema.format ?? schema.type ?? "anything");
  const bounds = [
    range(schema.minLength, schema.maxLength, " long"),
    range(schema.minimum, schema.maximum, ""),
    range(undefined, schema.maxItems, " items"),
    schema.default === undefined ? "" : `default ${JSON.stringify(schema.default)}`,
  ];
  return [base, ...bounds.filter(Boolean)].join(", ");
}

function range(min: number | undefined, max: number | undefined, unit: string): string {
  if (max === undefined || max === Number.MAX_SAFE_INTEGER) return min ? `at least ${min}${unit}` : "";
  return min === undefined ? `at most ${max}${unit}` : `${min} to ${max}${unit}`;
}

/** The call with the document's example, for a shell. */
function curlOf(path: string, method: string, { security, parameters = [], requestBody }: Described): string {
  const [first = {}] = security.filter((way) => Object.keys(way).length > 0);
  const authorization: Record<string, string> = {
    token: ' \\\n  -H "Authorization: Bearer $TOKEN"',
    session: ' \\\n  -H "Cookie: authlib.session_token=$SESSION"',
    operatorSecret: ' \\\n  -H "Authorization: Bearer $SECRET"',
  };
  const isOptional = security.some((way) => Object.keys(way).length === 0);
  const named = path.replace(/\{(\w+)\}/g, (_, name: string) => `$${name.replace(/[A-Z]/g, "_$&").toUpperCase()}`);
  const query = parameters.some(({ in: place, required }) => place === "query" && required)
    ? "?deviceCode=$DEVICE_CODE"
    : "";
  const body = Object.values(requestBody?.content ?? {})[0]?.examples?.usual?.value;
  return [
    `curl -sS${method === "GET" || body ? "" : ` -X ${method}`} "${document().servers[0]?.url}${named}${query}"`,
    isOptional ? "" : (authorization[Object.keys(first)[0] ?? ""] ?? ""),
    body ? ` \\\n  -H 'Content-Type: application/json' -d '${JSON.stringify(body).replaceAll("'", "'\\''")}'` : "",
  ].join("");
}
