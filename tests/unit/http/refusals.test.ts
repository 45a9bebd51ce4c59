import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { expect, test } from "vitest";
import { cutUserAgent, findRefusal } from "#server/http/refusals";

test.each(["/shared/%E0%A4%A", "/traces/%ff?at=1", "/pull/a/%/1", "/api/traces/%ff"])(
  "a path with an escape of no character, %s, is missing, for pages as well",
  (url) => {
    const request = Object.assign(new IncomingMessage(new Socket()), { method: "GET", url, httpVersion: "1.0" });
    expect(findRefusal(request, "id")?.status).toBe(404);
  },
);

test("a User-Agent is shortened before Next looks for robots in it, whose pattern takes quadratic time", () => {
  const cut = (agent?: string) => {
    const headers = agent === undefined ? {} : { "user-agent": agent };
    cutUserAgent({ headers } as IncomingMessage);
    return headers["user-agent"];
  };
  expect([cut(), cut("Mozilla/5.0"), cut("a".repeat(15_000))?.length]).toEqual([undefined, "Mozilla/5.0", 512]);
});
