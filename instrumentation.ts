import type { Instrumentation } from "next";
import { answerOverloaded } from "#lib/core/current-request";
import { isOutage, isOverload, isSchemaError } from "#lib/core/errors";
import { requestIdHeader } from "#lib/http/headers";

/** Next calls this once in every server process, before its first request. */
export async function register(): Promise<void> {
  // The middleware's runtime traces nothing.
  if (process.env.NEXT_RUNTIME !== "nodejs") return;
  const { startServing } = await import("#server/http/serving");
  await startServing();
  const { startTracing } = await import("#lib/observability/tracing");
  await startTracing("spoor-web");
}

/** Logs why a page or an action failed, with both ids that the error page shows. */
export const onRequestError: Instrumentation.onRequestError = async (error, { headers }, { routePath }) => {
  if (process.env.NEXT_RUNTIME !== "nodejs") return;
  if (isOverload(error) || isOutage(error) || isSchemaError(error)) answerOverloaded(); // first, since the response is about to be sent
  const { log } = await import("#lib/core/log");
  const { digest } = error as { digest?: string };
  log.error({ err: error, digest, requestId: headers[requestIdHeader], route: routePath }, "a page failed");
};
