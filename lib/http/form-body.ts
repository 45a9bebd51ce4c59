// Next answers references in an action's body that it can't follow with 500.
const isForm = (headers: Headers) => headers.get("content-type")?.startsWith("multipart/form-data") ?? false;
const isAction = (headers: Headers) => headers.has("next-action");

export const callsAction = ({ method, headers }: Request): boolean =>
  method === "POST" && (isAction(headers) || isForm(headers));

export async function isUnreadable(request: Request): Promise<boolean> {
  if (!callsAction(request)) return false;
  try {
    const bytes = await request.arrayBuffer();
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
    if (!isForm(request.headers)) return !areArguments(text);
    const type = request.headers.get("content-type") ?? "";
    const form = await new Response(bytes, { headers: { "Content-Type": type } }).formData();
    if (hasOtherParts(text)) return true;
    return isAction(request.headers) ? !hasArguments(form) : !hasAction(form);
  } catch {
    return true;
  }
}

/** Two readers may disagree about a file or an encoded part. */
function hasOtherParts(text: string): boolean {
  const heads = text.split(/(?:^|\r\n)--/).map((part) => part.slice(0, part.indexOf("\r\n\r\n")));
  return heads.some((head) => /^content-(?:type|transfer-encoding)\s*:/im.test(head));
}

const maxDepth = 32;
const maxArguments = 16;
/** A leading dollar sign marks a reference, two of them a text. */
const isPlainText = (text: string) => !text.startsWith("$") || text.startsWith("$$") || text === "$undefined";
/** Refers to a form among the arguments, whose fields follow. */
const isFormReference = (text: string) => /^\$K[1-9]$/.test(text);

function areArguments(text: string, isReference: (text: string) => boolean = () => false): boolean {
  const value: unknown = JSON.parse(text);
  const isText = (one: string) => isPlainText(one) || isReference(one);
  return Array.isArray(value) && value.length <= maxArguments && hasOnly(value, isText, maxDepth);
}

function hasOnly(value: unknown, isText: (text: string) => boolean, depth: number): boolean {
  if (typeof value === "string") return isText(value);
  if (typeof value !== "object" || value === null) return true;
  return depth > 0 && Object.values(value).every((one) => hasOnly(one, isText, depth - 1));
}

/** A script's form has its arguments once, and otherwise only fields of forms. */
function hasArguments(form: FormData): boolean {
  const [text, ...others] = form.getAll("0");
  if (typeof text !== "string" || others.length > 0) return false;
  const isKnown = (name: string) => name === "0" || /^_\d{1,4}_/.test(name);
  return [...form.keys()].every(isKnown) && areArguments(text, isFormReference);
}

/** Without JavaScript, a form names its action by an id, and the values bound to it. */
function hasAction(form: FormData): boolean {
  const names = [...form.keys()].filter(
    (name) => name.startsWith("$ACTION_") && !/^\$ACTION_(?:KEY|ID_[\da-f]+)$/.test(name),
  );
  const [reference, ...others] = names.filter((name) => name.startsWith("$ACTION_REF_"));
  if (reference === undefined || others.length > 0) return names.length === 0;
  const prefix = `${reference.replace("REF_", "")}:`;
  const { id, bound } = JSON.parse(String(form.get(`${prefix}0`)));
  if (typeof id !== "string" || !/^[\da-f]+$/.test(id)) return false;
  if (names.some((name) => name !== reference && name !== `${prefix}0` && name !== `${prefix}1`)) return false;
  if (bound === null) return !form.has(`${prefix}1`);
  return bound === "$@1" && areArguments(String(form.get(`${prefix}1`)));
}
