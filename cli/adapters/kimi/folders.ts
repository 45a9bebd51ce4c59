import { join } from "node:path";
import { readLineIndex } from "../../files/line-index.ts";
import { asString } from "../values.ts";

/** The folders of sessions by their ids, which Kimi Code lists in `session_index.jsonl`: older ones note theirs nowhere else. */
export const readFolders = (home: string): Promise<ReadonlyMap<string, string>> =>
  readLineIndex(join(home, "session_index.jsonl"), ({ sessionId, workDir }) => [
    asString(sessionId),
    asString(workDir),
  ]);
