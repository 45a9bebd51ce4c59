import { readdir, readFile } from "node:fs/promises";
import { dirname, join, normalize } from "node:path";
import { parseSync } from "oxc-parser";

/**
 * The layers of `lib`, from the ground up: a name is a folder. An import stays inside its own
 * name or goes to a lower layer, so that no two folders can import each other.
 */
const layers = [
  ["core"],
  ["transcript", "prices"],
  ["db", "store"],
  ["queue", "http"],
  ["observability"],
  ["auth"],
  ["pictures", "originals"],
  ["search", "masking"],
  ["device", "ingest", "traces", "findings", "telemetry", "usage", "ledger", "projects"],
  ["mcp"],
  ["api"],
];

const domains = ["device", "ingest", "traces", "findings", "telemetry", "usage", "ledger", "projects"];

const maxLines = 600;

/** A module as the rules see it: its path below the project, its imports' targets, and how its text begins. */
type Module = { path: string; imports: string[]; text: string };

type Rule = { reason: string; breaks: (module: Module, target: string) => boolean };

const layerOf = (path: string) => layers.findIndex((names) => names.includes(nameOf(path)));
const nameOf = (path: string) => /^lib\/([^/.]+)/.exec(path)?.[1] ?? "";
const inLib = (path: string) => path.startsWith("lib/") && !path.startsWith("lib/generated/");
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
      inLib(path) && inLib(target) && nameOf(path) !== nameOf(target) && layerOf(target) >= layerOf(path),
  },
  {
    reason: "no domain imports another: they meet in the worker and in app, so that each can be changed by itself",
    breaks: ({ path }, target) =>
      domains.includes(nameOf(path)) && domains.includes(nameOf(target)) && nameOf(path) !== nameOf(target),
  },
  {
    reason:
      "schema.ts imports zod and plain values alone: the browser shares it, and nothing of the server may come along",
    breaks: ({ path }, target) =>
      /^lib\/[^/]+\/schema\.ts$/.test(path) &&
      !["zod", "lib/core/limits.ts", "lib/core/fields.ts", "lib/core/json.ts"].includes(target),
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
      "what the client shares imports nothing but itself: all that it needs becomes part of the client's one file",
    breaks: ({ path }, target) => {
      const [own] = /^common\/[^/]+\//.exec(path) ?? [];
      return own !== undefined && !target.startsWith(own);
    },
  },
  {
    reason: "the application knows the client as a file that it delivers, never as code: they meet over HTTP alone",
    breaks: ({ path }, target) => !path.startsWith("cli/") && target.startsWith("cli/"),
  },
  {
    reason: "the S3 SDK is loaded by the first call of lib/store: a process without a store never loads its megabytes",
    breaks: ({ path, text }, target) =>
      target.startsWith("@aws-sdk/") && (path !== "lib/store/s3.ts" || /^import (?!type )[^;]*"@aws-sdk/m.test(text)),
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
      !/^lib\/([^/]+\/schema|auth\/password-strength)\.ts$/.test(target),
  },
];

const exempt = new Set(["lib/core/limits.ts"]);

/** Of each text that was parsed: several rules look at the same modules. */
const parsed = new Map<string, string[]>();

/** The modules that a module needs when it runs: paths below the project's folder, or names of packages. */
function importsOf(path: string, text: string): string[] {
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

/** What breaks a rule in one module, each as a line that names the rule's reason. */
export function violations(path: string, text: string): string[] {
  const imports = importsOf(path, text);
  const broken = imports.flatMap((target) =>
    rules
      .filter((rule) => rule.breaks({ path, imports, text }, target))
      .map(({ reason }) => `${path} imports ${target}: ${reason}`),
  );
  if (inLib(path) && layerOf(path) === -1) {
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

/** In these the connection itself is made and the schema applied; the enqueuer runs pg-boss's own statements. */
const sqlPlaces =
  /(^|\/)sql(\.ts$|\/)|^lib\/(db\/(client|limited-pool|migrate|migrations|postmaster)|queue\/enqueuer)\.ts$/;

const hasSql = (path: string, text: string) =>
  /\.query(<.*>)?\(|\$(queryRaw|executeRaw)/.test(text) && !sqlPlaces.test(path);

/** Modules that import each other, each circle once, as the paths along it. */
export function circles(files: { path: string; text: string }[]): string[] {
  const paths = new Set(files.map(({ path }) => path));
  const fileOf = (target: string) => [target, `${target}.ts`, `${target}.tsx`].filter((path) => paths.has(path));
  const imports = new Map(files.map(({ path, text }) => [path, importsOf(path, text).flatMap(fileOf)]));
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

/** The second one is for the launcher, which has no room for the parser. */
const environmentReaders = ["lib/core/env.ts", "lib/core/variables/operator-command.ts"];

function touchesEnvironment(path: string, text: string): boolean {
  const spread = /\.\.\.process\.env/g; // handing the whole environment to a child reads nothing of it
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

/** Every source file of the application, below the project's folder. */
export const sourceFiles = () =>
  filesOf(["app", "cli", "common", "lib", "server"], ["middleware.ts", "instrumentation.ts"]);

/** The tests, and what they share, that have too many lines. */
export async function longTests(): Promise<string[]> {
  const files = await filesOf(["tests"], []);
  return files.filter(({ text }) => text.split("\n").length > maxLines + 1).map(({ path }) => path);
}

async function filesOf(folders: string[], single: string[]): Promise<{ path: string; text: string }[]> {
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
