import type { Env } from "#lib/env";

export type Sink = {
  kind: NonNullable<Env["TELEMETRY_SINK"]>;
  url: string;
  key: string | undefined;
  allowPrivate: boolean;
};

export function readSink(environment: Env): Sink | undefined {
  const { TELEMETRY_SINK: kind, TELEMETRY_SINK_URL: url, TELEMETRY_SINK_KEY: key } = environment;
  if (!kind || !url) return undefined;
  return { kind, url, key, allowPrivate: environment.TELEMETRY_SINK_ALLOW_PRIVATE === "1" };
}

export function appendPath(url: string, path: string): string {
  const target = new URL(url);
  const [given, wanted] = [target.pathname.replace(/\/+$/, ""), path.replace(/\/+$/, "")];
  if (!given.endsWith(wanted)) target.pathname = given + path;
  return target.href;
}
