import { realpath } from "node:fs/promises";
import { dirname } from "node:path";
import type { Sink } from "./adapter.ts";

/**
 * Names the folder in which a file of a project's folder really stands, too: a link in a stranger's repository may lead to another
 * project, which is left out.
 *
 * @throws where the file is missing, and as `Sink.folder`
 */
export async function nameRealFolder(path: string, sink: Sink): Promise<void> {
  sink.folder(dirname(await realpath(path)));
}
