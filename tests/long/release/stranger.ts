// Somebody who has Node and a release, and nothing else: an empty folder, an empty home, npm without settings.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdir, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { ended } from "../../support/client.ts";

const run = promisify(execFile);
const isWindows = process.platform === "win32";

/** npm's own program: `npm run` tells it. */
function npmFile(name: "npm-cli.js" | "npx-cli.js"): string {
  const { npm_execpath: path } = process.env;
  if (!path) throw new Error("Start this by `npm run`.");
  return join(dirname(path), name);
}

const npmSetting = async (name: string) =>
  (await run(process.execPath, [npmFile("npm-cli.js"), "config", "get", name])).stdout.trim();

/** The package of npm that has a version of Node for this platform. It runs no script. */
function nodePackage(version: string): { name: string; spec: string } {
  const platform = isWindows ? "win" : process.platform;
  const prefix = process.platform === "darwin" && process.arch === "arm64" ? "node-bin" : "node";
  const name = `${prefix}-${platform}-${process.arch}`;
  return { name, spec: `${name}@${version}` };
}

/** Installs a major version of Node into a folder. @returns its program */
export async function installNode(major: string, folder: string): Promise<string> {
  const { name, spec } = nodePackage(major);
  const words = ["install", "--prefix", join(folder, major), "--no-save", "--no-audit", "--no-fund", spec];
  await mkdir(join(folder, major), { recursive: true });
  await run(process.execPath, [npmFile("npm-cli.js"), ...words]);
  return join(folder, major, "node_modules", name, "bin", isWindows ? "node.exe" : "node");
}

/** A home and a folder for one Node. */
export class Stranger {
  readonly node: string;
  readonly root: string;
  readonly #npm: Record<string, string>;
  readonly #started: ChildProcess[] = [];

  private constructor(node: string, root: string, npm: Record<string, string>) {
    this.node = node;
    this.root = root;
    this.#npm = npm;
  }

  static async arrive(node: string): Promise<Stranger> {
    const root = await mkdtemp(join(tmpdir(), "spoor-stranger-"));
    for (const name of ["home", "folder"]) await mkdir(join(root, name));
    const [registry, cafile] = await Promise.all([npmSetting("registry"), npmSetting("cafile")]);
    const npm = { npm_config_registry: registry, ...(cafile !== "null" && { npm_config_cafile: cafile }) };
    return new Stranger(node, root, npm);
  }

  get home(): string {
    return join(this.root, "home");
  }

  get folder(): string {
    return join(this.root, "folder");
  }

  /** Starts Node with nothing of this machine's environment but what a system needs. */
  start(words: string[], variables: Record<string, string> = {}): ChildProcess {
    const { PATH = "", SystemRoot = "", NODE_EXTRA_CA_CERTS = "" } = process.env;
    const system = isWindows ? PATH : ["/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"].join(delimiter);
    const own = { HOME: this.home, USERPROFILE: this.home, LOCALAPPDATA: join(this.home, "AppData", "Local") };
    const env = {
      PATH: [dirname(this.node), system].join(delimiter),
      ...(isWindows && { SystemRoot, TEMP: tmpdir(), APPDATA: join(this.home, "AppData", "Roaming") }),
      ...(NODE_EXTRA_CA_CERTS && { NODE_EXTRA_CA_CERTS }),
      ...own,
      ...this.#npm,
      ...variables,
    } as unknown as NodeJS.ProcessEnv;
    const child = spawn(this.node, words, { cwd: this.folder, env, stdio: ["ignore", "pipe", "pipe"] });
    this.#started.push(child);
    return child;
  }

  /** Runs Node to its end. */
  run = (words: string[], variables?: Record<string, string>) => ended(this.start(words, variables));

  /** Runs a package by `npx` from its file, which is copied into the folder. */
  async npx(path: string, name: string, words: string[]) {
    await copyFile(path, join(this.folder, name));
    return this.run([npmFile("npx-cli.js"), "--yes", `./${name}`, ...words]);
  }

  /** A file of a package that `npx` has installed. */
  async installed(name: string, file: string): Promise<string> {
    const cache = join(this.home, isWindows ? "AppData/Local/npm-cache/_npx" : ".npm/_npx");
    for (const entry of await readdir(cache)) {
      const path = join(cache, entry, "node_modules", name, file);
      if (await stat(path).catch(() => undefined)) return path;
    }
    throw new Error(`npx has no ${name} in ${cache}`);
  }

  /** How much a package has brought to the disk, with all that it needs, in bytes. */
  async sizeOf(name: string): Promise<number> {
    const packages = dirname(dirname(await this.installed(name, "package.json")));
    const entries = await readdir(packages, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    // In blocks, as a disk has them.
    const sizes = await Promise.all(files.map(async (path) => Math.ceil((await stat(path)).size / 4096) * 4096));
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  /** Ends what still runs, and removes everything. */
  async leave(): Promise<void> {
    const running = this.#started.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
    for (const child of running) child.kill("SIGTERM");
    await Promise.all(running.map((child) => once(child, "exit")));
    await rm(this.root, { recursive: true, force: true, maxRetries: 5, retryDelay: 1000 });
  }
}
