import { mkdir, rm, writeFile } from "node:fs/promises";

const folder = "app/api/bench";
const handler = `export async function POST(request: Request) {
  await request.json();
  return Response.json({ ok: true });
}
`;

/**
 * Adds a route that reads JSON and does nothing, to measure what Next itself costs per request. It exists while the bench
 * runs, and in the bench's build only.
 *
 * @returns a function that removes it
 */
export async function addEmptyRoute(): Promise<() => Promise<void>> {
  await mkdir(folder, { recursive: true });
  await writeFile(`${folder}/route.ts`, handler);
  return () => rm(folder, { recursive: true, force: true });
}
