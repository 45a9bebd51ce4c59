/** What a browser without script would post of a form in a page: its hidden fields, and its ticked checkboxes. */
export function fieldsOf(html: string, formId: string): Record<string, string> {
  const form = new RegExp(`<form[^>]*id="${formId}"[\\s\\S]*?</form>`).exec(html)?.[0] ?? "";
  const fields: Record<string, string> = {};
  for (const [tag] of form.matchAll(/<input[^>]*>/g)) {
    const attribute = (name: string) => new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1];
    const isTicked = attribute("type") === "checkbox" && /\schecked\b/.test(tag);
    if (attribute("type") !== "hidden" && !isTicked) continue;
    const value = attribute("value") ?? (isTicked ? "on" : "");
    fields[attribute("name") ?? ""] = value.replaceAll("&quot;", '"').replaceAll("&amp;", "&");
  }
  return fields;
}
