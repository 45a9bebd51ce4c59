import type { ErrorCode, SpoorError } from "#lib/errors";

/** Why a form was refused, by the error's code. */
const sentences: Partial<Record<ErrorCode, string>> = {
  payload_too_large: "The file is over the limit of a form. With script, or from the command line, it can be larger.",
  invalid_json: "The file is not valid JSON. (JSON lines need script, or the command line.)",
  invalid_request: "The file is no valid batch of conversations.",
  request_timeout: "The file came too slowly.",
  overloaded: "The server is busy. Try again in a moment.",
};

/** The page with what was wrong: the code, and the path of the first field that is wrong. */
export function refusalHref({ code, errors }: SpoorError): string {
  const path = errors?.[0]?.path;
  return `/upload?${new URLSearchParams({ refused: code, ...(path && { path }) })}`;
}

type Params = Record<string, string | string[] | undefined>;

/** The refusal that an address tells of, as a sentence; undefined for any other address, since anybody can make one. */
export function refusalOf({ refused, path }: Params): string | undefined {
  const known = typeof refused === "string" && Object.hasOwn(sentences, refused);
  const sentence = known ? sentences[refused as ErrorCode] : undefined;
  const place = typeof path === "string" && /^traces(\.\w{1,40}){1,4}$/.test(path) ? ` It goes wrong at ${path}.` : "";
  return sentence && `${sentence}${place} Nothing of it was stored.`;
}
