import { CommandError } from "../errors.ts";
import { type Fields, isFields, toList } from "../files/json.ts";
import type { Api } from "../server/api.ts";
import { type ArchivedTrace, parseTrace } from "./archived.ts";
import type { Archived } from "./sessions.ts";

const maxBytes = 512 * 1024 * 1024;
const maxFiles = 200;

export async function fetchArchived(api: Api, { traceId, title }: Archived): Promise<ArchivedTrace> {
  const bytes = await api.download(`/api/traces/export?id=${encodeURIComponent(traceId)}`, {}, maxBytes);
  if (!Buffer.isBuffer(bytes)) throw new CommandError("failed", `The session "${title}" is too long to rebuild.`);
  const trace = parseTrace(bytes.toString());
  if (!trace) throw new CommandError("failed", `The server did not send all of the session "${title}". Try again.`);
  return { ...trace, title: trace.title ?? title };
}

export async function fetchChangedFiles(api: Api, { traceId }: Archived): Promise<Fields[]> {
  const query = `action=changed&limit=${maxFiles}`;
  const { body } = await api.request(`/api/traces/${encodeURIComponent(traceId)}/files?${query}`);
  return toList(body.files).filter(isFields);
}
