import type { ReactNode } from "react";
import Markdown, { type Components, type ExtraProps } from "react-markdown";
import remarkGfm from "remark-gfm";
import { findLanguage } from "#lib/transcript/vocabulary";
import { CodeBlock } from "../code/code";
import type { Effort } from "../effort";
import { bounded, headings, isAffordable, safeHref, TooMuch } from "./markdown-rules";

/** GitHub's Markdown without raw HTML. */
export function Prose(props: { text: string; anchor: string; words: Effort; effort: Effort }) {
  const { text, anchor, words, effort } = props;
  const drawn = !words.isSpent() && isAffordable(text) ? words.spend(() => draw(text, anchor, effort)) : undefined;
  return drawn ? <div className="prose">{drawn}</div> : <div className="prose plain">{text}</div>;
}

/** @param anchor prefixes the ids of footnotes */
function draw(text: string, anchor: string, effort: Effort): ReactNode {
  try {
    return Markdown({
      children: text,
      components: { ...components, pre: ({ node }) => <Fence node={node} effort={effort} /> },
      remarkPlugins: [remarkGfm, bounded, headings],
      remarkRehypeOptions: { clobberPrefix: `${anchor}-` },
      urlTransform: (address) => address,
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
  return <CodeBlock text={value} language={findLanguage(name)} label={name.slice(0, 32)} effort={effort} />;
}

const FootnotesHeading = ({ children }: { children?: ReactNode }) => <h3 className="prose-h2">{children}</h3>;

const cell = (Tag: "td" | "th") =>
  function Cell({ children, style }: { children?: ReactNode; style?: { textAlign?: string } | undefined }) {
    const align = style?.textAlign;
    return <Tag className={align === "right" || align === "center" ? `cell-${align}` : undefined}>{children}</Tag>;
  };

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

/** No image is loaded; a link describes it. */
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

/** Wide tables scroll in a frame, by keyboard too. */
const Table = ({ children }: { children?: ReactNode }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
  // biome-ignore lint/a11y/useSemanticElements: a table is no set of fields
  <div className="table-frame" tabIndex={0} role="group" aria-label="Table">
    <table dir="auto">{children}</table>
  </div>
);

const directed = (Tag: "ul" | "ol" | "blockquote") =>
  function Directed({ node: _, ...rest }: { children?: ReactNode } & ExtraProps) {
    return <Tag dir="auto" {...rest} />;
  };

const components: Components = {
  ul: directed("ul"),
  ol: directed("ol"),
  blockquote: directed("blockquote"),
  a: Anchor,
  img: Picture,
  h2: FootnotesHeading,
  td: cell("td"),
  th: cell("th"),
  table: Table,
  input: ({ checked }) => <input type="checkbox" checked={checked === true} disabled readOnly aria-label="Task" />,
};
