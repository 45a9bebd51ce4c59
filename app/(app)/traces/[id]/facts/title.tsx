type Props = { text: string; whole?: string | null };

/** Two lines; the toolbar shows it once this one has scrolled away. */
export function Title({ text, whole }: Props) {
  return (
    <h1 title={whole || text} data-title="">
      {text}
    </h1>
  );
}
