import { mkdir, rm, writeFile } from "node:fs/promises";

const folder = "app/api/bench";
const handler = `export async function POST(request: Request) {
  await request.json();
  return Response.json({ ok: true });
}
`;

/**
 * Adds a route to the application that reads JSON and does nothing: what Next itself takes for a request. It is there while
 * the bench runs, and is of no build but the bench's.
 *
 * @returns what takes it away
 */
export async function addEmptyRoute(): Promise<() => Promise<void>> {
  await mkdir(folder, { recursive: true });
  await writeFile(`${folder}/route.ts`, handler);
  return () => rm(folder, { recursive: true, force: true });
}
