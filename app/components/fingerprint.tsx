/** In two groups, as the client writes it. */
export function Fingerprint({ of }: { of: string }) {
  return (
    <span className="whitespace-nowrap font-mono">
      {of.slice(0, 4)} {of.slice(4)}
    </span>
  );
}
