// OpenTelemetry traces. Nothing of the SDK is loaded unless OTEL_EXPORTER_OTLP_ENDPOINT is set; without it, what is here
// calls its work and nothing else.
import { type Attributes, SpanStatusCode, trace } from "@opentelemetry/api";
import type { Configuration } from "@vercel/otel";
import { env } from "#lib/env";
import { SpoorError } from "#lib/errors";

type SpanProcessor = Exclude<NonNullable<Configuration["spanProcessors"]>[number], string>;
type ReadableSpan = Parameters<SpanProcessor["onEnd"]>[0];

const globals = globalThis as typeof globalThis & { spoorTracing?: boolean };

/** Sends this process's spans to the operator's collector, where one is set. Its other settings are OpenTelemetry's own. */
export async function startTracing(serviceName: string): Promise<void> {
  if (env().OTEL_EXPORTER_OTLP_ENDPOINT === undefined || globals.spoorTracing) return;
  globals.spoorTracing = true;
  const { registerOTel } = await import("@vercel/otel");
  // Without its instrumentation of fetch: the server calls nobody but the operator's own sink.
  registerOTel({ serviceName, instrumentations: [], spanProcessors: [discretion, "auto"] });
}

/** Sends what is still to be sent. */
export async function flushTracing(): Promise<void> {
  if (!globals.spoorTracing) return;
  type Provider = { getDelegate?(): { forceFlush?(): Promise<void> } };
  const provider = trace.getTracerProvider() as Provider;
  await provider.getDelegate?.().forceFlush?.();
}

/** Runs `work` as a span. Of what it throws, the kind alone is told. */
export function traced<T>(name: string, attributes: Attributes, work: () => Promise<T>): Promise<T> {
  return trace.getTracer("spoor").startActiveSpan(name, { attributes }, async (span) => {
    try {
      return await work();
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR });
      span.setAttribute("spoor.error", error instanceof SpoorError ? error.code : (error as Error).name);
      throw error;
    } finally {
      span.end();
    }
  });
}

const known = /^(?:http\.(?:method|route|status_code)|next\.(?:route|span_type)|spoor\.\w+)$/;

/**
 * Takes out of every span what may hold a code, a token or content before it is sent: libraries note paths with their
 * queries, statements and messages of errors. What is not known stays here.
 */
export function discreet(span: ReadableSpan): void {
  const told = span as { name: string; attributes: Attributes; events: unknown[]; status: { message?: string } };
  for (const key of Object.keys(told.attributes)) if (!known.test(key)) delete told.attributes[key];
  told.name = told.name.replace(/ ?(?:\S+:\/\/|\?).*$/s, "");
  told.events.length = 0;
  delete told.status.message;
}

const discretion: SpanProcessor = {
  onStart: () => {},
  onEnd: discreet,
  forceFlush: async () => {},
  shutdown: async () => {},
};
