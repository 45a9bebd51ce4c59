import { attribute, getFields } from "./form.ts";
import { type Server, someAddress } from "./server.ts";

type Answer = { status: number; text: string; location: string | null };

/**
 * Acts as a browser without JavaScript: keeps cookies, and sends JSON or a page's form. Every request has another
 * address, so that limits by address do not apply.
 */
export function plainBrowser(server: Server) {
  const cookies = new Map<string, string>();

  async function send(path: string, init: RequestInit = {}): Promise<Answer> {
    const headers = new Headers(init.headers);
    headers.set("Origin", server.url);
    headers.set("X-Forwarded-For", someAddress());
    headers.set("Cookie", [...cookies].map(([name, value]) => `${name}=${value}`).join("; "));
    const response = await fetch(server.url + path, { ...init, headers, redirect: "manual" });
    for (const set of response.headers.getSetCookie()) keep(set);
    return { status: response.status, text: await response.text(), location: response.headers.get("location") };
  }

  function keep(set: string): void {
    const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
    if (value === "" || /;\s*max-age=0/i.test(set)) cookies.delete(name);
    else cookies.set(name, value);
  }

  const post = (path: string, body: unknown) =>
    send(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

  /** Opens a page. @returns the fields of the form that has this button */
  async function open(path: string, button: string): Promise<FormData> {
    const { text } = await send(path);
    const form = [...text.matchAll(/<form\b.*?<\/form>/gs)]
      .map(([html]) => html)
      .find((html) => findButton(html, button));
    if (!form) throw new Error(`${path} has no form with the button ${button}`);
    const data = new FormData();
    for (const [name, value] of Object.entries(getFields(form))) data.set(name, value);
    const pressed = findButton(form, button) ?? "";
    if (attribute(pressed, "name")) data.append(attribute(pressed, "name"), attribute(pressed, "value"));
    return data;
  }

  /** Sends a form to its page. */
  function sendForm(path: string, form: FormData, fields: Record<string, string>): Promise<Answer> {
    const body = new FormData();
    for (const [name, value] of form) body.append(name, value);
    for (const [name, value] of Object.entries(fields)) body.set(name, value);
    return send(path, { method: "POST", body });
  }

  /** Opens a page and sends the form that has this button. */
  const submit = async (path: string, button: string, fields: Record<string, string>): Promise<Answer> =>
    sendForm(path, await open(path, button), fields);

  const forget = (...names: string[]) => names.every((name) => cookies.delete(name));

  return { send, post, open, sendForm, submit, forget, has: (name: string) => cookies.has(name) };
}

/** Finds the opening tag of a form's button by its text. */
function findButton(form: string, name: string): string | undefined {
  const buttons = [...form.matchAll(/(<button\b[^>]*>)(.*?)<\/button>/gs)];
  return buttons.find(([, , inner = ""]) => inner.replaceAll(/<[^>]*>/g, "") === name)?.[1];
}
