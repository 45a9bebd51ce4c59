import { asString } from "./values.ts";

/** The path in a URI, also of a remote machine's: `file:///C%3A/code`, `vscode-remote://ssh-remote%2Bhost/home/ada`. */
export function uriPath(uri: unknown): string | undefined {
  const [, path] = /^[a-z][a-z0-9+.-]*:\/\/[^/]*(\/.*)$/i.exec(asString(uri) ?? "") ?? [];
  if (path === undefined) return undefined;
  try {
    return decodeURIComponent(path).replace(/^\/([a-z]:)/i, "$1");
  } catch (error) {
    if (error instanceof URIError) return path;
    throw error;
  }
}
