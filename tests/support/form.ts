import type { Server } from "./server.ts";

/**
 * Reads the fields that a browser without JavaScript would post (hidden fields and ticked checkboxes), by default of
 * the page's first form.
 */
export function getFields(html: string, formId?: string): Record<string, string> {
  const start = formId === undefined ? "<form" : `<form[^>]*id="${formId}"`;
  const form = new RegExp(`${start}[\\s\\S]*?</form>`).exec(html)?.[0] ?? "";
  const fields: Record<string, string> = {};
  for (const [tag] of form.matchAll(/<input\b[^>]*>/g)) {
    const isTicked = attribute(tag, "type") === "checkbox" && /\schecked\b/.test(tag);
    if (attribute(tag, "type") !== "hidden" && !isTicked) continue;
    fields[attribute(tag, "name")] = attribute(tag, "value") || (isTicked ? "on" : "");
  }
  return fields;
}

/** Reads an attribute of an opening tag; empty if it is missing. */
export const attribute = (tag: string, name: string): string =>
  (new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1] ?? "")
    .replaceAll("&quot;", '"')
    .replaceAll("&#x27;", "'")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");

/** Reads the fields that a browser without JavaScript sends from a page's first form to its server action. */
export async function readForm(server: Pick<Server, "url">, path: string, headers: Record<string, string> = {}) {
  const fields = getFields(await (await fetch(server.url + path, { headers })).text());
  if (Object.keys(fields).length === 0) throw new Error(`${path} has no form`);
  return fields;
}

/** Sends a form as a browser without JavaScript does. */
export function sendForm(
  server: Pick<Server, "url">,
  path: string,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Response> {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.set(name, value);
  return fetch(server.url + path, {
    method: "POST",
    headers: { Origin: server.url, ...headers },
    body,
    redirect: "manual",
  });
}

/** Formats the cookies of a response as a browser would send them. */
export const getCookies = (response: Response): string =>
  response.headers
    .getSetCookie()
    .map((cookie) => cookie.split(";")[0] ?? "")
    .filter((pair) => !pair.endsWith("="))
    .join("; ");
