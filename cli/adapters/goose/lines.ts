import { basename } from "node:path";
import { readRecords } from "../../files/json-lines.ts";
import type { Sink } from "../adapter.ts";
import { SessionBuilder } from "../session-builder.ts";
import { readUsage } from "./database.ts";
import { contentMessages, source, toTime } from "./messages.ts";

/** Reads a session of the older versions: its own fields in the first line, and a message in each other one. */
export async function readLines(path: string, sink: Sink): Promise<void> {
  const session = new SessionBuilder(sink, source, basename(path, ".jsonl"));
  await readRecords(path, sink, (record) => {
    if (record.role === undefined && record.working_dir !== undefined) {
      session.noteFolder(record.working_dir);
      session.noteTitle(record.description);
      session.addUsage(readUsage(record.accumulated_input_tokens, record.accumulated_output_tokens));
      sink.skipped();
      return;
    }
    const messages = contentMessages(record.role, record.content, false, (type) => sink.unhandled(type));
    if (messages.length === 0) sink.skipped();
    session.send(messages, { at: toTime(record.created) });
  });
  session.end();
}
