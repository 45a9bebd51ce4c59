import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { cutUserAgent } from "#lib/server/request-target";

test("a User-Agent is shortened before Next looks for robots in it, whose pattern takes quadratic time", () => {
  const cut = (agent?: string) => {
    const headers = agent === undefined ? {} : { "user-agent": agent };
    cutUserAgent({ headers } as IncomingMessage);
    return headers["user-agent"];
  };
  expect([cut(), cut("Mozilla/5.0"), cut("a".repeat(15_000))?.length]).toEqual([undefined, "Mozilla/5.0", 512]);
});
