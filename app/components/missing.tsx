/** What can be said of a missing page; somebody else's reads the same. */
export function Missing() {
  return (
    <>
      <p className="text-muted">
        The address may be mistyped, the session deleted, or it belongs to another account than the one you are signed
        in with.
      </p>
      <p>
        <a href="/traces" className="link">
          Go to your sessions
        </a>
      </p>
    </>
  );
}
