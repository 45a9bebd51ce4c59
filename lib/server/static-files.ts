import { readdir } from "node:fs/promises";
import { sep } from "node:path";

/** The paths of the files that a built application has for everybody: those of its pages, and those of `public/`. */
export async function readStaticFiles(): Promise<ReadonlySet<string>> {
  const [built, others] = await Promise.all([namesIn(".next/static"), namesIn("public")]);
  return new Set([...built.map((name) => `/_next/static/${name}`), ...others.map((name) => `/${name}`)]);
}

async function namesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true }).catch(() => []); // a host may serve them by itself
  return names.map((name) => name.replaceAll(sep, "/"));
}
