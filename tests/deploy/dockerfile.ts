// Follows a Dockerfile in plain folders, where there is no container engine: every COPY and RUN happens, so each path is proven.
import { spawnSync } from "node:child_process";
import { cp, mkdir, readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";

/** A stage: the folder that stands for its file system, and what its image would be configured with. */
type Stage = {
  root: string;
  workdir: string;
  environment: Record<string, string>;
  user?: string;
  healthcheck: string[];
  entrypoint: string[];
  command: string[];
};

/** Instructions with their continued lines joined; comments and empty lines are left out. */
function listInstructions(text: string): [name: string, rest: string][] {
  const lines = text
    .replaceAll(/^\s*#.*\n/gm, "")
    .replaceAll("\\\n", " ")
    .split("\n");
  return lines
    .filter((line) => line.trim())
    .map((line) => [line.split(" ")[0] ?? "", line.slice(line.indexOf(" ") + 1)]);
}

/** What the context has: all that git knows and `.dockerignore` does not leave out. It knows plain paths only. */
async function contextFiles(): Promise<string[]> {
  const ignored = (await readFile(".dockerignore", "utf8")).split("\n").filter(Boolean);
  const { stdout } = spawnSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], { encoding: "utf8" });
  const isIgnored = (path: string) => ignored.some((one) => path === one || path.startsWith(`${one}/`));
  return stdout.split("\n").filter((path) => path && !isIgnored(path));
}

/**
 * Builds the image of a Dockerfile below a folder.
 *
 * @returns its last stage
 * @throws where a source of a COPY is missing, or a command fails
 */
export async function buildImage(file: string, folder: string, say: (line: string) => void): Promise<Stage> {
  const stages = new Map<string, Stage>();
  let stage: Stage | undefined;
  for (const [name, rest] of listInstructions(await readFile(file, "utf8"))) {
    const startedAt = Date.now();
    if (name === "FROM") {
      const alias = / AS (\S+)$/.exec(rest)?.[1] ?? "last";
      stage = {
        ...{ root: join(folder, alias), workdir: "/", environment: {} },
        healthcheck: [],
        entrypoint: [],
        command: [],
      };
      stages.set(alias, stage);
      await mkdir(stage.root, { recursive: true });
    } else if (!stage) throw new Error(`${name} before FROM`);
    else if (name === "WORKDIR") {
      stage.workdir = rest;
      await mkdir(join(stage.root, rest), { recursive: true });
    } else if (name === "COPY") await copy(stage, rest, stages);
    else if (name === "RUN") runIn(stage, rest);
    else if (name === "ENV") {
      for (const [, key = "", value = ""] of rest.matchAll(/(\w+)=(\S+)/g)) stage.environment[key] = value;
    } else if (name === "USER") stage.user = rest;
    else if (name === "HEALTHCHECK") stage.healthcheck = JSON.parse(rest.slice(rest.indexOf("[")));
    else if (name === "ENTRYPOINT") stage.entrypoint = JSON.parse(rest);
    else if (name === "CMD") stage.command = JSON.parse(rest);
    else if (name !== "EXPOSE") throw new Error(`the instruction ${name} is not known here`);
    say(`${name} ${rest.slice(0, 90)} (${((Date.now() - startedAt) / 1000).toFixed(1)} s)`);
  }
  if (!stage) throw new Error(`${file} has no FROM`);
  return stage;
}

async function copy(stage: Stage, rest: string, stages: Map<string, Stage>): Promise<void> {
  const [, , from, paths = ""] = /^(--from=(\S+) )?(.*)$/.exec(rest) ?? [];
  const words = paths.split(" ");
  const destination = words.pop() ?? "";
  const to = join(stage.root, destination.startsWith("/") ? "" : stage.workdir, destination);
  const keepsName = destination.endsWith("/") || words.length > 1;
  for (const source of words) {
    if (from) {
      const path = join(stages.get(from)?.root ?? "", source);
      await stat(path); // fails with the path that is missing
      await mkdir(dirname(to), { recursive: true });
      await cp(path, keepsName ? join(to, source) : to, { recursive: true, verbatimSymlinks: true });
    } else await copyContext(source, keepsName ? join(to, source) : to, stage);
  }
}

async function copyContext(source: string, to: string, stage: Stage): Promise<void> {
  const all = await contextFiles();
  const files = source === "." ? all : all.filter((path) => path === source || path.startsWith(`${source}/`));
  if (files.length === 0) throw new Error(`the context has no ${source}`);
  for (const path of files) {
    const target = source === "." ? join(stage.root, stage.workdir, path) : to + path.slice(source.length);
    await mkdir(dirname(target), { recursive: true });
    await cp(path, target);
  }
}

function runIn(stage: Stage, command: string): void {
  const { HOME, PATH } = process.env;
  const { status, stdout, stderr } = spawnSync("sh", ["-ec", command], {
    cwd: join(stage.root, stage.workdir),
    env: { HOME, PATH, ...stage.environment } as unknown as NodeJS.ProcessEnv,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(`RUN ${command} failed (${status})\n${stdout}\n${stderr}`);
}
