type Node = { type: string; depth?: number; children?: Node[]; data?: object };

/**
 * A remark plugin: a message's headings start at the third level, below the page's own, and never skip one, whatever was
 * written. They look as they were written.
 */
export function headings() {
  return (tree: Node): void => {
    let before = 0;
    const visit = (node: Node): void => {
      if (node.type === "heading" && node.depth) {
        before = Math.min(node.depth, before + 1, 4);
        node.data = { hName: `h${before + 2}`, hProperties: { className: [`prose-h${Math.min(node.depth, 3)}`] } };
      }
      node.children?.forEach(visit);
    };
    visit(tree);
  };
}
