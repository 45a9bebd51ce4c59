type Node = { type: string; depth?: number; children?: Node[]; data?: object };

/** A remark plugin: headings start below the page's own and skip no level, but keep their look. */
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
