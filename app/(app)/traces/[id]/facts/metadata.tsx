import { readableJson } from "#lib/reader/text";

export function Metadata({ value }: { value: Record<string, unknown> }) {
  return (
    <details className="min-w-0">
      <summary className="text-code text-muted hover:text-text">Metadata</summary>
      <pre className="mt-1 whitespace-pre-wrap break-words rounded-block border border-hairline bg-block px-3 py-2 font-mono text-code">
        {readableJson(value)}
      </pre>
    </details>
  );
}
