import { readdir, readFile } from "node:fs/promises";
import { dirname, join, normalize } from "node:path";
import { parseSync } from "oxc-parser";

/**
 * The layers of `lib`, from the ground up; an import may only go down. A name is a folder or a file without its ending.
 * Names within one inner list stand side by side.
 */
const layers = [
  ["env", "errors", "ports", "fields", "streams", "together"],
  ["log", "limits", "address", "registry", "tracing"],
  ["json", "reader", "client"],
  ["db"],
  ["rate-limit", "queue", "heartbeat", "metrics"],
  ["auth", "search"],
  ["device", "ingest", "traces", "telemetry", "usage"],
  ["http"],
  ["service-api", "openapi"],
  ["readiness", "figures", "access", "housekeeping", "build", "processes"],
  ["drain"],
  ["worker", "web", "start"],
  ["demo", "admin"],
];

const domains = ["device", "ingest", "traces", "telemetry", "usage"];

/** A module as the rules see it: its path below the project, its imports' targets, and how its text begins. */
type Module = { path: string; imports: string[]; text: string };

type Rule = { reason: string; breaks: (module: Module, target: string) => boolean };

const layerOf = (path: string) => layers.findIndex((names) => names.includes(nameOf(path)));
const nameOf = (path: string) => /^lib\/([^/.]+)/.exec(path)?.[1] ?? "";
const isClient = ({ text }: Module) => /^["']use client["']/m.test(text);

const rules: Rule[] = [
  {
    reason: "lib never imports app: web, worker and tests share it, and it knows of no page and no route",
    breaks: ({ path }, target) => path.startsWith("lib/") && target.startsWith("app/"),
  },
  {
    reason: "inside lib imports go down the layers: what imports something above it can only be understood with it",
    breaks: ({ path }, target) => path.startsWith("lib/") && layerOf(path) !== -1 && layerOf(target) > layerOf(path),
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
      !["zod", "lib/limits.ts", "lib/fields.ts", "lib/json.ts"].includes(target),
  },
  {
    reason:
      "the client is one file that runs anywhere: it imports Node and its own modules, and nothing but types else",
    breaks: ({ path }, target) => path.startsWith("cli/") && !target.startsWith("cli/") && !target.startsWith("node:"),
  },
  {
    reason: "the application knows the client as a file that it delivers, never as code: they meet over HTTP alone",
    breaks: ({ path }, target) => !path.startsWith("cli/") && target.startsWith("cli/"),
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
      isClient(module) && target.startsWith("lib/") && !/^lib\/[^/]+\/schema\.ts$/.test(target),
  },
];

const exempt = new Set(["lib/limits.ts"]);

/** What breaks a rule in one module, each as a line that names the rule's reason. */
export function violations(path: string, text: string): string[] {
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
  const imports = targets.map((specifier) => resolve(path, specifier));
  const broken = imports.flatMap((target) =>
    rules
      .filter((rule) => rule.breaks({ path, imports, text }, target))
      .map(({ reason }) => `${path} imports ${target}: ${reason}`),
  );
  if (touchesEnvironment(path, text))
    broken.push(`${path}: process.env is read in lib/env.ts alone, where it is parsed`);
  if (lacksGuard(path, text, imports)) {
    broken.push(`${path}: what touches a database or a secret begins with import "server-only"`);
  }
  return broken;
}

function touchesEnvironment(path: string, text: string): boolean {
  const spread = /\.\.\.process\.env/g; // handing the whole environment to a child reads nothing of it
  return /^(lib|app)\//.test(path) && path !== "lib/env.ts" && text.replaceAll(spread, "").includes("process.env");
}

function lacksGuard(path: string, text: string, imports: string[]): boolean {
  const guarded = /^import "server-only";$/m.test(text);
  const needs = imports.some((target) => /^lib\/db\/|^pg$|^lib\/queue\.ts$/.test(target)) || /requiredEnv/.test(text);
  return path.startsWith("lib/") && path !== "lib/env.ts" && needs && !guarded && !exempt.has(path);
}

function resolve(from: string, specifier: string): string {
  if (specifier.startsWith("#lib/")) return `lib/${specifier.slice(5)}.ts`;
  if (specifier.startsWith(".")) return normalize(join(dirname(from), specifier));
  return specifier;
}

/** Every source file of the application, below the project's folder. */
export async function sourceFiles(): Promise<{ path: string; text: string }[]> {
  const found = await Promise.all(
    ["app", "cli", "lib"].map(async (folder) => {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true });
      return entries
        .filter(
          (entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !entry.parentPath.startsWith("lib/generated"),
        )
        .map((entry) => join(entry.parentPath, entry.name));
    }),
  );
  return Promise.all(
    [...found.flat(), "middleware.ts", "instrumentation.ts"].map(async (path) => ({
      path,
      text: await readFile(path, "utf8"),
    })),
  );
}
