import type { Env } from "#lib/env";

/** The external service that receives a copy of each report, as the operator's environment configures it. */
export type Sink = {
  kind: NonNullable<Env["TELEMETRY_SINK"]>;
  url: string;
  key: string | undefined;
  allowPrivate: boolean;
};

/** The configured sink, or undefined without one. */
export function readSink(environment: Env): Sink | undefined {
  const { TELEMETRY_SINK: kind, TELEMETRY_SINK_URL: url, TELEMETRY_SINK_KEY: key } = environment;
  if (!kind || !url) return undefined;
  return { kind, url, key, allowPrivate: environment.TELEMETRY_SINK_ALLOW_PRIVATE === "1" };
}

/** Appends `path` to a URL, unless the URL already ends with it. */
export function appendPath(url: string, path: string): string {
  const target = new URL(url);
  const [given, wanted] = [target.pathname.replace(/\/+$/, ""), path.replace(/\/+$/, "")];
  if (!given.endsWith(wanted)) target.pathname = given + path;
  return target.href;
}
