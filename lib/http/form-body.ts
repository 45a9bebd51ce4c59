/** Whether a form or an action of a page has a body that Next can't read: Next would answer it with 500, and log an error. */
export async function isUnreadable(request: Request): Promise<boolean> {
  const isAction = request.headers.has("next-action");
  const isForm = request.headers.get("content-type")?.startsWith("multipart/form-data") ?? false;
  if (request.method !== "POST" || !(isAction || isForm)) return false;
  try {
    const given = isForm ? (await request.formData()).get("0") : await request.text();
    if (isAction) JSON.parse(String(given)); // the arguments, as React writes them
    return false;
  } catch {
    return true;
  }
}
