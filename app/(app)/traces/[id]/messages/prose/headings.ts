type Node = { type: string; depth?: number; children?: Node[]; data?: object };

/**
 * A plugin of remark: a message's headings stand below the page's own, from the third level on, and none is more than one
 * below the heading before it, whatever its writer began with. What they look like is by what was written.
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
