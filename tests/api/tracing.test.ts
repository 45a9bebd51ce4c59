import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, expect, test } from "vitest";
import { get, ingest, provideOwnedServer } from "../support/server.ts";

type Span = { name: string; traceId: string; spanId: string; parentSpanId?: string; attributes: unknown[] };
type Sent = {
  resourceSpans: {
    resource: { attributes: { key: string; value: { stringValue?: string } }[] };
    scopeSpans: { spans: Span[] }[];
  }[];
};

/** A collector for OTLP over HTTP in JSON. */
const received: string[] = [];
const collector = createServer(async (request, response) => {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk;
  if (request.url === "/v1/traces") received.push(text);
  response.writeHead(200, { "Content-Type": "application/json" }).end("{}");
}).listen(0);
await once(collector, "listening");
afterAll(() => collector.close());

const { server, token } = await provideOwnedServer({
  environment: {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://localhost:${(collector.address() as AddressInfo).port}`,
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
    OTEL_BSP_SCHEDULE_DELAY: "200",
  },
});

const spans = () =>
  received
    .flatMap((text) => (JSON.parse(text) as Sent).resourceSpans)
    .flatMap(({ resource, scopeSpans }) => {
      const service = resource.attributes.find(({ key }) => key === "service.name")?.value.stringValue;
      return scopeSpans.flatMap((scope) => scope.spans.map((span) => ({ service, ...span })));
    });

test("a request, its acceptance and the job are spans, and none contains a code, a token or content", async () => {
  await (await get(server, "/api/cli/device/poll?deviceCode=canary-code")).text();
  await ingest(server, token, [{ sourceId: "canary-id", messages: [{ position: 0, content: "canary-content" }] }]);
  const named = (name: string) => spans().find((span) => span.name === name);
  for (const deadline = Date.now() + 20_000; Date.now() < deadline; ) {
    if (named("POST /api/ingest") && named("ingest.accept") && named("ingest.job")) break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const request = named("POST /api/ingest");
  expect(request).toMatchObject({ service: "spoor-web" });
  expect(named("ingest.accept")).toMatchObject({ service: "spoor-web", traceId: request?.traceId });
  expect(named("ingest.job")).toMatchObject({ service: "spoor-worker" });
  expect(named("GET /api/cli/device/poll")).toBeDefined();
  expect(JSON.stringify(named("ingest.job")?.attributes)).toContain("spoor.job");
  expect(received.join()).not.toMatch(/canary|spoor_[0-9A-Za-z]{36}|insert into/);
});
