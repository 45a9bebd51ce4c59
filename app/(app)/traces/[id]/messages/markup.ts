import { Fragment, isValidElement, type ReactElement, type ReactNode } from "react";

/** No text can name other elements or attributes. */
const elements = new Set(
  `a article b blockquote br button code dd del details div dl dt em h2 h3 h4 h5 h6 hr i img input ins li ol p path pre section span
  strong sub summary sup svg table tbody td th thead time tr ul`.split(/\s+/),
);
const voids = new Set(["br", "hr", "img", "input"]);

const renamed: Record<string, string> = {
  className: "class",
  dateTime: "datetime",
  tabIndex: "tabindex",
  readOnly: "readonly",
};
const named = new Set(
  "alt class d datetime dir height href id loading rel role src start tabindex title type viewBox width".split(" "),
);
const flags = new Set("checked disabled hidden open readonly".split(" "));
const ownImage = /^(?:data:image\/|\/api\/(?:traces|shared)\/[\w-]+\/pictures\/[0-9a-f]{64}$)/;
const prefixed = /^(?:aria|data)-[a-z-]+$/;

/** Renders elements whose components are plain functions. @throws for an element that is not on the list */
export function toHtml(node: ReactNode): string {
  const html: string[] = [];
  write(node, html);
  return html.join("");
}

function write(node: ReactNode, html: string[]): void {
  if (typeof node === "string") html.push(escaped(node));
  else if (typeof node === "number" || typeof node === "bigint") html.push(String(node));
  else if (Array.isArray(node)) for (const one of node) write(one, html);
  else if (isValidElement(node)) writeElement(node as ReactElement<Props>, html);
}

type Props = { children?: ReactNode; [name: string]: unknown };

function writeElement({ type, props }: ReactElement<Props>, html: string[]): void {
  if (type === Fragment) write(props.children, html);
  else if (typeof type === "function") write((type as (props: Props) => ReactNode)(props), html);
  else writeTag(type, props, html);
}

function writeTag(type: unknown, props: Props, html: string[]): void {
  // The page loads no images from elsewhere.
  const isForeign = type === "img" && !ownImage.test(String(props.src));
  if (typeof type !== "string" || !elements.has(type) || isForeign)
    throw new Error(`A message is drawn with ${String(type)}.`);
  html.push(`<${type}`);
  for (const name in props) writeAttribute(name, props[name], html);
  html.push(">");
  if (voids.has(type)) return;
  // The HTML parser drops a line feed after this tag.
  if (type === "pre") html.push("\n");
  write(props.children, html);
  html.push(`</${type}>`);
}

function writeAttribute(given: string, value: unknown, html: string[]): void {
  const name = renamed[given] ?? given;
  if (flags.has(name)) {
    if (value) html.push(` ${name}=""`);
    return;
  }
  if (value === undefined || value === null || !(named.has(name) || prefixed.test(name))) return;
  html.push(` ${name}="${escaped(String(value))}"`);
}

const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;" };
const special = /[&<>"']/g;

const escaped = (text: string): string => text.replace(special, (character) => entities[character] ?? "");
