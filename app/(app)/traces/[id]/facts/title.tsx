/** Two lines; the toolbar shows it once this one has scrolled away. */
export function Title({ text }: { text: string }) {
  return (
    <h1 title={text} data-title="">
      {text}
    </h1>
  );
}
