/** Parts in backticks are code. */
export function Words({ text }: { text: string }) {
  return text.split("`").map((part, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a fixed text never move
      <code key={index} className="rounded-control bg-block px-1 font-mono text-code [overflow-wrap:anywhere]">
        {part}
      </code>
    ),
  );
}
