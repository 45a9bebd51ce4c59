/** The server's log has the reason for a failure under this id. */
export function RequestId({ id }: { id: string }) {
  return (
    <p className="text-meta text-muted">
      Request id: <code className="font-mono [overflow-wrap:anywhere]">{id}</code>
    </p>
  );
}
