// The SDK is loaded only if OTEL_EXPORTER_OTLP_ENDPOINT is set; otherwise `traced` just calls its work.
import { type Attributes, SpanStatusCode, trace } from "@opentelemetry/api";
import type { Configuration } from "@vercel/otel";
import { oncePerProcess } from "#lib/core/concurrency/once-per-process";
import { env } from "#lib/core/env";
import { SpoorError } from "#lib/core/errors";

type SpanProcessor = Exclude<NonNullable<Configuration["spanProcessors"]>[number], string>;
type ReadableSpan = Parameters<SpanProcessor["onEnd"]>[0];

const tracing = oncePerProcess("tracing", () => ({ isOn: false }));

/** Starts exporting spans if a collector is configured by OpenTelemetry's own settings. */
export async function startTracing(serviceName: string): Promise<void> {
  if (env().OTEL_EXPORTER_OTLP_ENDPOINT === undefined || tracing.isOn) return;
  tracing.isOn = true;
  const { registerOTel } = await import("@vercel/otel");
  // `fetch` is not instrumented: the server calls only the operator's own sink.
  registerOTel({ serviceName, instrumentations: [], spanProcessors: [redaction, "auto"] });
}

export async function flushTracing(): Promise<void> {
  if (!tracing.isOn) return;
  type Provider = { getDelegate?(): { forceFlush?(): Promise<void> } };
  const provider = trace.getTracerProvider() as Provider;
  await provider.getDelegate?.().forceFlush?.();
}

/** Runs `work` as a span. Only the code or name of an exception is recorded. */
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

const knownAttributes = /^(?:http\.(?:method|route|status_code)|next\.(?:route|span_type)|spoor\.\w+)$/;

/**
 * Keeps only known attributes: libraries record paths with their queries, SQL and error messages, which may contain
 * codes, tokens or content.
 */
export function redactSpan(span: ReadableSpan): void {
  const sent = span as { name: string; attributes: Attributes; events: unknown[]; status: { message?: string } };
  for (const key of Object.keys(sent.attributes)) if (!knownAttributes.test(key)) delete sent.attributes[key];
  sent.name = sent.name.replace(/ ?(?:\S+:\/\/|\?).*$/s, "");
  sent.events.length = 0;
  delete sent.status.message;
}

const redaction: SpanProcessor = {
  onStart: () => {},
  onEnd: redactSpan,
  forceFlush: async () => {},
  shutdown: async () => {},
};
