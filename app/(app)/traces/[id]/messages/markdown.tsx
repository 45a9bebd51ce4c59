import type { ReactNode } from "react";
import Markdown, { type Components, type ExtraProps } from "react-markdown";
import remarkGfm from "remark-gfm";
import { languageOf } from "#lib/reader/vocabulary";
import { bounded, isAffordable, TooMuch } from "./bounded";
import { CodeBlock } from "./code";
import type { Effort } from "./effort";
import { safeHref } from "./links";

/** Markdown of GitHub's flavour, without raw HTML; as plain text where reading it as Markdown would take too long. */
export function Prose(props: { text: string; anchor: string; words: Effort; effort: Effort }) {
  const { text, anchor, words, effort } = props;
  const drawn = !words.isSpent() && isAffordable(text) ? words.spend(() => draw(text, anchor, effort)) : undefined;
  return drawn ? <div className="prose">{drawn}</div> : <div className="prose plain">{text}</div>;
}

/** @param anchor what the ids of footnotes begin with, unique on the page */
function draw(text: string, anchor: string, effort: Effort): ReactNode {
  try {
    return Markdown({
      children: text,
      components: { ...components, pre: ({ node }) => <Fence node={node} effort={effort} /> },
      remarkPlugins: [remarkGfm, bounded],
      remarkRehypeOptions: { clobberPrefix: `${anchor}-` },
      urlTransform: (address) => address, // links and images are judged where they are drawn
    });
  } catch (error) {
    if (error instanceof TooMuch || error instanceof RangeError) return undefined;
    throw error;
  }
}

function Fence({ node, effort }: ExtraProps & { effort: Effort }) {
  const [code] = node?.children ?? [];
  if (code?.type !== "element") return null;
  const [text] = code.children;
  const names = Array.isArray(code.properties.className) ? code.properties.className : [];
  const name = String(names.find((one) => String(one).startsWith("language-")) ?? "").slice("language-".length);
  const value = text?.type === "text" ? text.value.replace(/\n$/, "") : "";
  return <CodeBlock text={value} language={languageOf(name)} label={name.slice(0, 32)} effort={effort} />;
}

/** A message's headings stand below the page's own; what they look like is the class's. */
const heading = (Tag: "h3" | "h4" | "h5" | "h6", className: string) =>
  function Heading({ children }: { children?: ReactNode }) {
    return <Tag className={className}>{children}</Tag>;
  };

const cell = (Tag: "td" | "th") =>
  function Cell({ children, style }: { children?: ReactNode; style?: { textAlign?: string } | undefined }) {
    const align = style?.textAlign;
    return <Tag className={align === "right" || align === "center" ? `cell-${align}` : undefined}>{children}</Tag>;
  };

/** A link where it leads somewhere else; what it says otherwise, with the address where that is not the same. */
function Anchor({
  href,
  children,
  id,
  className,
}: {
  href?: string;
  children?: ReactNode;
  id?: string;
  className?: string;
}) {
  const footnote = href?.startsWith("#") && (id || className?.includes("footnote"));
  if (footnote)
    return (
      <a href={href} id={id} className="link">
        {children}
      </a>
    );
  const safe = safeHref(href);
  if (safe === undefined) return <span title={href?.slice(0, 1000)}>{children}</span>;
  return (
    <a href={safe} rel="noopener noreferrer nofollow" className="link">
      {children}
    </a>
  );
}

/** No image loads, wherever it is: it is a link that says what it shows. */
function Picture({ src, alt }: { src?: unknown; alt?: string | undefined }) {
  const address = typeof src === "string" ? src : "";
  const safe = safeHref(address);
  const label = alt || (safe ? new URL(safe).pathname.split("/").at(-1) : "") || "image";
  if (safe === undefined) return <span className="picture">Image: {label}</span>;
  return (
    <a href={safe} rel="noopener noreferrer nofollow" className="link picture">
      Image: {label}
    </a>
  );
}

const components: Components = {
  a: Anchor,
  img: Picture,
  h1: heading("h3", "prose-h1"),
  h2: heading("h4", "prose-h2"),
  h3: heading("h5", "prose-h3"),
  h4: heading("h6", "prose-h3"),
  h5: heading("h6", "prose-h3"),
  h6: heading("h6", "prose-h3"),
  td: cell("td"),
  th: cell("th"),
  table: ({ children }) => (
    <div className="table-frame">
      <table>{children}</table>
    </div>
  ),
  input: ({ checked }) => <input type="checkbox" checked={checked === true} disabled readOnly aria-label="Task" />,
};
