import { expect, test } from "vitest";
import { redactSpan } from "#lib/observability/tracing";

const leave = (span: object) => {
  const told = { name: "x", attributes: {}, events: [], status: { code: 0 }, ...span };
  redactSpan(told as unknown as Parameters<typeof redactSpan>[0]);
  return told;
};

test("of a span's attributes only those that hold no content are sent", () => {
  const attributes = {
    "http.method": "GET",
    "http.route": "/api/cli/device/poll",
    "http.target": "/api/cli/device/poll?deviceCode=secret",
    "http.status_code": 202,
    "next.route": "/api/cli/device/poll",
    "next.span_name": "GET /x?deviceCode=secret",
    "next.span_type": "BaseServer.handleRequest",
    "db.statement": "select 'secret'",
    "spoor.job": "0190",
  };
  expect(leave({ attributes }).attributes).toEqual({
    "http.method": "GET",
    "http.route": "/api/cli/device/poll",
    "http.status_code": 202,
    "next.route": "/api/cli/device/poll",
    "next.span_type": "BaseServer.handleRequest",
    "spoor.job": "0190",
  });
});

test("errors' messages, exceptions and addresses stay here", () => {
  const events = [{ name: "exception", attributes: { "exception.message": "secret" } }];
  const left = leave({ name: "fetch GET https://example.org/secret", events, status: { code: 2, message: "secret" } });
  expect(left).toMatchObject({ name: "fetch GET", events: [], status: { code: 2 } });
  expect(JSON.stringify(left)).not.toContain("secret");
  expect(leave({ name: "GET /device?code=secret" }).name).toBe("GET /device");
});
