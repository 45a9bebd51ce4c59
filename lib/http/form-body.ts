const isForm = (headers: Headers) => headers.get("content-type")?.startsWith("multipart/form-data") ?? false;
const isAction = (headers: Headers) => headers.has("next-action");

/** Whether a request to a page is one that Next runs an action for. */
export const callsAction = ({ method, headers }: Request): boolean =>
  method === "POST" && (isAction(headers) || isForm(headers));

/** Whether a form or an action of a page has a body that Next can't read: Next would answer it with 500, and log an error. */
export async function isUnreadable(request: Request): Promise<boolean> {
  if (!callsAction(request)) return false;
  try {
    const given = isForm(request.headers) ? (await request.formData()).get("0") : await request.text();
    if (isAction(request.headers)) JSON.parse(String(given)); // the arguments, as React writes them
    return false;
  } catch {
    return true;
  }
}
