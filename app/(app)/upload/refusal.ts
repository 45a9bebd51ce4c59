import { validate } from "uuid";
import type { ErrorCode, SpoorError } from "#lib/core/errors";
import { OverQuotaError } from "#lib/ingest/quota/quota";
import type { SearchParams } from "../../components/shell/pages";

type Reason = ErrorCode | "over_quota";

const sentences: Partial<Record<Reason, string>> = {
  over_quota: "The file exceeds your quota. Delete sessions to free space.",
  payload_too_large: "The file is too large for this form. With JavaScript or the command line it can be larger.",
  invalid_json: "The file is not valid JSON. (JSON Lines need JavaScript or the command line.)",
  invalid_request: "The file is not a valid batch of sessions.",
  request_timeout: "The file arrived too slowly.",
  overloaded: "The server is busy. Try again in a moment.",
};

export function refusalHref(error: SpoorError, requestId: string): string {
  const path = error.errors?.[0]?.path;
  const refused: Reason = error instanceof OverQuotaError ? "over_quota" : error.code;
  return `/upload?${new URLSearchParams({ refused, ...(path && { path }), request: requestId })}`;
}

/** Anybody can make a link, so only what `refusalHref` writes is read. */
export function readRefusal({
  refused,
  path,
  request,
}: SearchParams): { sentence: string; requestId?: string } | undefined {
  const known = typeof refused === "string" && Object.hasOwn(sentences, refused);
  const reason = known ? sentences[refused as Reason] : undefined;
  if (reason === undefined) return undefined;
  const place = typeof path === "string" && /^traces(\.\w{1,40}){1,4}$/.test(path) ? ` The problem is at ${path}.` : "";
  const sentence = `${reason}${place} Nothing was stored.`;
  return typeof request === "string" && validate(request) ? { sentence, requestId: request } : { sentence };
}
