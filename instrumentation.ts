/** Next calls this once in every server process, before its first request. */
export async function register(): Promise<void> {
  // Middleware runs in a runtime of its own, which traces nothing.
  if (process.env.NEXT_RUNTIME !== "nodejs") return;
  const { startTracing } = await import("#lib/observability/tracing");
  await startTracing("spoor-web");
}
