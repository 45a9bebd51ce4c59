import { readdir, readFile } from "node:fs/promises";
import { dirname, join, normalize } from "node:path";
import { parseSync } from "oxc-parser";

/**
 * The layers of `lib`, lowest first; each name is a folder. An import stays in its folder or goes to a lower layer, so
 * that no two folders can import each other.
 */
const layers = [
  ["core"],
  ["transcript", "prices"],
  ["db", "storage"],
  ["queue", "http"],
  ["observability"],
  ["auth"],
  ["masking"],
  ["messages", "originals"],
  ["search"],
  ["files"],
  ["traces"],
  ["pull-requests", "shares", "device", "ingest", "findings", "telemetry", "usage", "ledger", "projects"],
  ["mcp"],
  ["api"],
];

/** The layers between `search` and `mcp`, which do not import each other, except for a session's page. */
const domains = layers
  .slice(
    layers.findIndex(([name]) => name === "files"),
    -2,
  )
  .flat();
const mayImport: Record<string, string> = { traces: "files", shares: "traces", "pull-requests": "traces" };

const maxLines = 600;

/** A module's path in the project, the targets of its imports, and the beginning of its text. */
type Module = { path: string; imports: string[]; text: string };

type Rule = { reason: string; breaks: (module: Module, target: string) => boolean };

const getLayer = (path: string) => layers.findIndex((names) => names.includes(getName(path)));
const getName = (path: string) => /^lib\/([^/.]+)/.exec(path)?.[1] ?? "";
const inLib = (path: string) => path.startsWith("lib/") && !path.startsWith("lib/generated/");
const isSchema = /^lib\/[^/]+\/schema\.ts$/;
const isClient = ({ text }: Module) => /^["']use client["']/m.test(text);

const rules: Rule[] = [
  {
    reason:
      "lib imports neither app nor server: web, worker and tests share it, and it knows of no page and no process",
    breaks: ({ path }, target) => path.startsWith("lib/") && /^(?:app|server)\//.test(target),
  },
  {
    reason: "server never imports app: a process runs Next's build and knows of no page",
    breaks: ({ path }, target) => path.startsWith("server/") && target.startsWith("app/"),
  },
  {
    reason: "inside lib imports go down the layers: what imports something above it can only be understood with it",
    breaks: ({ path }, target) =>
      inLib(path) && inLib(target) && getName(path) !== getName(target) && getLayer(target) >= getLayer(path),
  },
  {
    reason: "no domain imports another: they meet in the worker and in app, so that each can be changed by itself",
    breaks: ({ path }, target) =>
      domains.includes(getName(path)) &&
      domains.includes(getName(target)) &&
      getName(path) !== getName(target) &&
      mayImport[getName(path)] !== getName(target),
  },
  {
    reason:
      "schema.ts imports zod, plain values and other schemas alone: the browser shares it, and nothing of the server may come along",
    breaks: ({ path }, target) =>
      isSchema.test(path) &&
      !["zod", "lib/core/limits.ts", "lib/core/fields.ts", "lib/core/json.ts"].includes(target) &&
      !isSchema.test(target),
  },
  {
    reason:
      "the client is one file that runs anywhere: it imports Node, its own modules, and the pure functions that it shares with the server: what Git's output proves, how folders are spelled, and what a secret is; encryption is not its own, so it comes from age's author",
    breaks: ({ path }, target) =>
      path.startsWith("cli/") &&
      !/^(?:cli\/|common\/|node:)/.test(target) &&
      !(target === "age-encryption" && path.startsWith("cli/originals/")),
  },
  {
    reason:
      "what the client shares imports only its own folder and files of `common` itself: all that it needs becomes part of the client's one file",
    breaks: ({ path }, target) => {
      const [own] = /^common\/[^/]+\//.exec(path) ?? [];
      return own !== undefined && !target.startsWith(own) && !/^common\/[^/]+$/.test(target);
    },
  },
  {
    reason: "the application knows the client as a file that it delivers, never as code: they meet over HTTP alone",
    breaks: ({ path }, target) => !path.startsWith("cli/") && target.startsWith("cli/"),
  },
  {
    reason:
      "the S3 SDK is loaded by the first call of lib/storage: a process without a store never loads its megabytes",
    breaks: ({ path, text }, target) =>
      target.startsWith("@aws-sdk/") && (path !== "lib/storage/s3.ts" || /^import (?!type )[^;]*"@aws-sdk/m.test(text)),
  },
  {
    reason: "app has no SQL and no Prisma: a page or route calls its domain's function, which is tested",
    breaks: ({ path }, target) =>
      (path.startsWith("app/") || ["middleware.ts", "instrumentation.ts"].includes(path)) &&
      (/^lib\/(db|generated)\//.test(target) || /^(pg|pg-boss|@prisma\/.*)$/.test(target)),
  },
  {
    reason: "a client component imports schemas, types and components only: all else would go to the browser or break",
    breaks: (module, target) =>
      isClient(module) &&
      /^(?:common|lib|server)\//.test(target) &&
      !/^lib\/([^/]+\/schema|auth\/passwords\/password-strength)\.ts$/.test(target),
  },
];

const exempt = new Set(["lib/core/limits.ts"]);

/** Caches imports by text, since several rules examine the same modules. */
const parsed = new Map<string, string[]>();

/** Lists the modules that a module imports at run time: paths in the project, or names of packages. */
function listImports(path: string, text: string): string[] {
  const key = `${path}\0${text}`;
  const imports = parsed.get(key) ?? parseImports(path, text);
  parsed.set(key, imports);
  return imports;
}

function parseImports(path: string, text: string): string[] {
  const { module } = parseSync(path, text);
  const targets = [
    ...module.staticImports
      .filter(({ entries }) => entries.length === 0 || entries.some(({ isType }) => !isType))
      .map(({ moduleRequest }) => moduleRequest.value),
    ...module.staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest }) => moduleRequest?.value ?? []),
    ),
    ...module.dynamicImports.map(({ moduleRequest: { start, end } }) => text.slice(start + 1, end - 1)),
  ];
  return targets.map((specifier) => resolve(path, specifier));
}

/** Lists the broken rules of a module, each as a line with the rule's reason. */
export function violations(path: string, text: string): string[] {
  const imports = listImports(path, text);
  const broken = imports.flatMap((target) =>
    rules
      .filter((rule) => rule.breaks({ path, imports, text }, target))
      .map(({ reason }) => `${path} imports ${target}: ${reason}`),
  );
  if (inLib(path) && getLayer(path) === -1) {
    broken.push(`${path}: every file of lib has a place in the layers, or nobody knows what it may import`);
  }
  if (hasSql(path, text)) {
    broken.push(
      `${path}: SQL stands in a sql.ts, with the reason why Prisma can't do it; everything else calls Prisma`,
    );
  }
  if (text.split("\n").length > maxLines + 1)
    broken.push(`${path} has more than ${maxLines} lines: it holds two things`);
  if (touchesEnvironment(path, text))
    broken.push(`${path}: process.env is read in ${environmentReaders[0]} alone, where it is parsed`);
  if (lacksGuard(path, text, imports)) {
    broken.push(`${path}: what touches a database or a secret begins with import "server-only"`);
  }
  return broken;
}

/** These make connections and apply the schema; the enqueuer runs pg-boss's statements. */
const sqlPlaces =
  /(^|\/)sql(\.ts$|\/)|^lib\/(db\/(client|pool|migrate|migrations|embedded\/postmaster)|queue\/enqueuer)\.ts$/;

const hasSql = (path: string, text: string) =>
  /\.query(<.*>)?\(|\$(queryRaw|executeRaw)/.test(text) && !sqlPlaces.test(path);

/** Lists circles of imports, each once, as the paths along it. */
export function circles(files: { path: string; text: string }[]): string[] {
  const paths = new Set(files.map(({ path }) => path));
  const makePath = (target: string) => [target, `${target}.ts`, `${target}.tsx`].filter((path) => paths.has(path));
  const imports = new Map(files.map(({ path, text }) => [path, listImports(path, text).flatMap(makePath)]));
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (path: string, trail: string[]) => {
    const start = trail.indexOf(path);
    if (start !== -1) found.push([...trail.slice(start), path].join(" -> "));
    if (start !== -1 || done.has(path)) return;
    for (const target of imports.get(path) ?? []) visit(target, [...trail, path]);
    done.add(path);
  };
  for (const path of imports.keys()) visit(path, []);
  return found;
}

/** The second one is for the launcher, which must not load the parser. */
const environmentReaders = ["lib/core/env.ts", "lib/core/variables/operator-command.ts"];

function touchesEnvironment(path: string, text: string): boolean {
  const spread = /\.\.\.process\.env/g; // passing the whole environment to a child is allowed
  return (
    /^(common|lib|server|app)\//.test(path) &&
    !environmentReaders.includes(path) &&
    text.replaceAll(spread, "").includes("process.env")
  );
}

function lacksGuard(path: string, text: string, imports: string[]): boolean {
  const guarded = /^import "server-only";$/m.test(text);
  const needs = imports.some((target) => /^lib\/db\/|^pg$|^lib\/queue\//.test(target)) || /requiredEnv/.test(text);
  return /^(lib|server)\//.test(path) && path !== "lib/core/env.ts" && needs && !guarded && !exempt.has(path);
}

function resolve(from: string, specifier: string): string {
  if (/^#(?:common|lib|server)\//.test(specifier)) return `${specifier.slice(1)}.ts`;
  if (specifier.startsWith(".")) return normalize(join(dirname(from), specifier));
  return specifier;
}

/** Lists every source file of the application. */
export const sourceFiles = () =>
  listFiles(["app", "cli", "common", "lib", "server"], ["middleware.ts", "instrumentation.ts"]);

/** Lists tests and support files with too many lines. */
export async function longTests(): Promise<string[]> {
  const files = await listFiles(["tests"], []);
  return files.filter(({ text }) => text.split("\n").length > maxLines + 1).map(({ path }) => path);
}

async function listFiles(folders: string[], single: string[]): Promise<{ path: string; text: string }[]> {
  const found = await Promise.all(
    folders.map(async (folder) => {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true });
      return entries
        .filter(
          (entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !entry.parentPath.startsWith("lib/generated"),
        )
        .map((entry) => join(entry.parentPath, entry.name));
    }),
  );
  return Promise.all(
    [...found.flat(), ...single].map(async (path) => ({
      path,
      text: await readFile(path, "utf8"),
    })),
  );
}
