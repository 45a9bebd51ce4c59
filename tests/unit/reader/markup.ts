/** A start tag of React's HTML: its name, and its attributes with their values as written. */
export type Tag = { name: string; attributes: Record<string, string> };

const tag = /<(?:!--.*?--|\/[a-z][a-z0-9]*|([a-z][a-z0-9]*)((?: [^\s"<>/=]+(?:="[^"<]*")?)*)\/?)>/gsy;
const attribute = / ([^\s"<>/=]+)(?:="([^"<]*)")?/g;

/**
 * Every start tag in HTML that React has written, where all text is escaped.
 *
 * @throws where a "<" begins no tag of that form, so that nothing can hide between the tags
 */
export function listTags(html: string): Tag[] {
  const tags: Tag[] = [];
  for (let at = html.indexOf("<"); at !== -1; at = html.indexOf("<", tag.lastIndex)) {
    tag.lastIndex = at;
    const found = tag.exec(html);
    if (!found) throw new Error(`This is no tag: ${html.slice(at, at + 100)}`);
    const [, name, rest = ""] = found;
    if (name)
      tags.push({
        name,
        attributes: Object.fromEntries([...rest.matchAll(attribute)].map(([, key, value = ""]) => [key, value])),
      });
  }
  return tags;
}

const elements = new Set(
  `a article b blockquote br button code del details div em h2 h3 h4 h5 h6 hr i img input ins li ol p path pre section span
  strong summary sup svg table tbody td th thead time tr ul`.split(/\s+/),
);

const attributes = new Set(
  `alt aria-describedby aria-hidden aria-label checked class d data-block data-copy data-divider data-failed data-fold data-footnotes
  data-kind data-load data-member data-n data-open data-part data-position data-positions data-state data-talk data-turn-start data-view
  dateTime datetime dir disabled hidden href id open readOnly readonly rel role src start tabindex title type viewBox`.split(
    /\s+/,
  ),
);

const addresses =
  /^(?:https?:\/\/|mailto:|\?at=\d+$|\/traces\/[0-9a-f-]{36}\/share\?turn=\d+$|\/api\/traces\/[0-9a-f-]{36}\/messages\?|#m\d+-)/i;
const pictures = /^data:image\/(?:png|jpeg|gif|webp|avif);base64,[A-Za-z0-9+/=]+$/;
const ids = /^m\d+(?:-[\w-]+|$)/;

/** What of some HTML is not on the lists of what a message may be drawn with. */
export function forbidden(html: string): string[] {
  return listTags(html).flatMap(({ name, attributes: given }) => [
    ...(elements.has(name) ? [] : [`<${name}>`]),
    ...Object.entries(given).flatMap(([key, value]) => {
      if (!attributes.has(key)) return [`${name} ${key}=${value.slice(0, 50)}`];
      if (key === "href" && !addresses.test(value)) return [`${name} href=${value.slice(0, 50)}`];
      if (key === "src" && !pictures.test(value)) return [`${name} src=${value.slice(0, 50)}`];
      if (key === "id" && !ids.test(value)) return [`${name} id=${value.slice(0, 50)}`];
      if (key === "role" && value !== "group") return [`${name} role=${value.slice(0, 50)}`];
      if (key === "type" && !["button", "checkbox"].includes(value)) return [`${name} type=${value}`];
      return [];
    }),
  ]);
}
