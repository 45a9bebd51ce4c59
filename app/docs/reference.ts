import { openApiDocument } from "#lib/api/openapi";

type Schema = {
  $ref?: string;
  type?: string;
  format?: string;
  const?: unknown;
  enum?: unknown[];
  default?: unknown;
  examples?: string[];
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

/** `path` may be nested: `traces[].sourceId` */
export type DocumentedField = { path: string; required: boolean; type: string; text: string };

export type DocumentedAnswer = {
  status: string;
  text: string;
  headers: string[];
  example: string | undefined;
  isError: boolean;
};

export type DocumentedOperation = {
  id: string;
  method: string;
  path: string;
  summary: string;
  text: string;
  authorization: string;
  parameters: DocumentedField[];
  sent: DocumentedField[];
  returned: DocumentedField[];
  command: string;
  answers: DocumentedAnswer[];
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

type OperationGroup = { name: string; text: string; entries: DocumentedOperation[] };
let known: OperationGroup[] | undefined;

export function readReference(): OperationGroup[] {
  known ??= readGroups();
  return known;
}

function readGroups(): OperationGroup[] {
  const { tags, paths } = document();
  const all = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => method !== "options")
      .map(([method, operation]) => ({ tag: operation.tags[0], entry: toEntry(path, method, operation) })),
  );
  return tags.map(({ name, description }) => ({
    name,
    text: description,
    entries: merged(all.filter(({ tag }) => tag === name).map(({ entry }) => entry)),
  }));
}

function merged(entries: DocumentedOperation[]): DocumentedOperation[] {
  return [...Map.groupBy(entries, ({ path, summary }) => `${path} ${summary}`).values()].flatMap(([first, ...more]) =>
    first ? { ...first, method: [first, ...more].map(({ method }) => method).join(", ") } : [],
  );
}

function toEntry(path: string, method: string, operation: Described): DocumentedOperation {
  const success = Object.entries(operation.responses).find(([status]) => Number(status) < 300)?.[1];
  return {
    id: operation.operationId,
    method: method.toUpperCase(),
    path,
    summary: operation.summary,
    text: operation.description,
    authorization: describeAuthorization(operation.security),
    parameters: (operation.parameters ?? []).map(({ name, in: place, required, description, schema }) => ({
      path: name,
      required: required ?? false,
      type: describeType(schema),
      text: [place === "header" ? "A header." : "", description ?? ""].filter(Boolean).join(" "),
    })),
    sent: listFields(firstSchema(operation.requestBody?.content)),
    returned: listFields(firstSchema(success?.content)),
    command: makeCommand(path, method.toUpperCase(), operation),
    answers: Object.entries(operation.responses).map(([status, { description, headers, content }]) => ({
      status,
      text: description,
      headers: Object.keys(headers ?? {}).filter((name) => !["X-Request-Id", "Cache-Control"].includes(name)),
      example: Number(status) < 400 || !content?.["application/problem+json"] ? findExample(content) : undefined,
      isError: Number(status) >= 400,
    })),
  };
}

const firstSchema = (content: Content = {}): Schema | undefined => Object.values(content)[0]?.schema;

function findExample(content: Content = {}): string | undefined {
  const [example] = Object.values(Object.values(content)[0]?.examples ?? {});
  if (!example || example.value === null) return undefined;
  return typeof example.value === "string" ? example.value.trimEnd() : JSON.stringify(example.value, null, 2);
}

function describeAuthorization(security: Record<string, string[]>[]): string {
  const names: Record<string, string> = {
    token: "a token",
    session: "a browser's sign-in",
    operatorSecret: "the operator's secret",
  };
  const ways = security.flatMap((way) => {
    const [[name = "", [scope] = []] = []] = Object.entries(way);
    return names[name] ? [scope ? `${names[name]} with the scope \`${scope}\`` : names[name]] : [];
  });
  if (ways.length === 0) return "No authorization.";
  return ways.length < security.length ? `Optional: ${ways.join(" or ")}.` : `Needs ${ways.join(" or ")}.`;
}

const resolve = (schema: Schema): Schema => {
  if (!schema.$ref) return schema;
  return document().components.schemas[schema.$ref.split("/").at(-1) ?? ""] ?? {};
};

function listFields(given: Schema | undefined, prefix = ""): DocumentedField[] {
  if (!given) return [];
  const schema = resolve(given);
  if (schema.items) return listFields(schema.items, `${prefix}[]`);
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const path = prefix ? `${prefix}.${name}` : name;
    const own = resolve(property);
    const field = {
      path,
      required: schema.required?.includes(name) ?? false,
      type: describeType(own),
      text: own.description ?? "",
    };
    return [field, ...listFields(own, path)];
  });
}

/** `string, 1 to 512 characters` */
function describeType(given: Schema): string {
  const schema = resolve(given);
  const either = schema.anyOf ?? schema.oneOf;
  if (either) return either.map(describeType).join(" or ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(", ");
  const base = schema.type === "array" ? "list" : (schema.format ?? schema.type ?? "anything");
  const bounds = [
    range(schema.minLength, schema.maxLength, " characters"),
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

const placeholders: Record<string, { value: string; from?: string }> = {
  TOKEN: { value: "spoor_…", from: 'a device login, or the page "Machines"' },
  SESSION: { value: "…", from: "the browser's cookie authlib.session_token" },
  SECRET: { value: "…", from: "the environment of the server" },
  DEVICE_CODE: { value: "…", from: "POST /api/cli/device/start" },
  JOB_ID: { value: "…", from: "POST /api/ingest" },
  ID: { value: "…", from: "GET /api/traces" },
};

const authorizations: Record<string, string> = {
  token: "Authorization: Bearer $TOKEN",
  session: "Cookie: authlib.session_token=$SESSION",
  operatorSecret: "Authorization: Bearer $SECRET",
};

const toVariable = (name: string) => name.replace(/[A-Z]/g, "_$&").toUpperCase();

function makeCommand(path: string, method: string, { security, parameters = [], requestBody }: Described): string {
  const [way = {}] = security;
  const authorization = authorizations[Object.keys(way)[0] ?? ""];
  const getParameterExample = (name: string) => parameters.find((one) => one.name === name)?.schema.examples?.[0];
  const named = path.replace(/\{(\w+)\}/g, (_, name: string) => getParameterExample(name) ?? `$${toVariable(name)}`);
  const required = parameters.filter((one) => one.in === "query" && one.required);
  const query = required.map(({ name }) => `${name}=$${toVariable(name)}`).join("&");
  const [[sentType, sent] = []] = Object.entries(requestBody?.content ?? {});
  const body = sent?.examples?.usual?.value;
  const file = sentType && !body ? ["--data-binary @FILE", `-H 'Content-Type: ${sentType}'`] : [];
  const url = `"$BASE${named}${query && `?${query}`}"`;
  const call = [
    `curl -sS${method === "GET" || body ? "" : ` -X ${method}`} ${url}`,
    ...(authorization ? [`-H "${authorization}"`] : []),
    ...file,
    ...(body ? ["-H 'Content-Type: application/json'", `-d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`] : []),
  ].join(" \\\n  ");
  const used = [...new Set([...call.matchAll(/\$([A-Z_]+)/g)].map(([, name = ""]) => name))];
  return [...used.map(findDefinition), call].join("\n");
}

function findDefinition(name: string): string {
  if (name === "BASE") return `BASE=${document().servers[0]?.url}`;
  const { value, from } = placeholders[name] ?? { value: "…" };
  return `${name}=${value}${from ? `   # from ${from}` : ""}`;
}
