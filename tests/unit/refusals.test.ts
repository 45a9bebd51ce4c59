import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { expect, test } from "vitest";
import { refusalOf } from "#lib/server/refusals";

test.each(["/shared/%E0%A4%A", "/traces/%ff?at=1", "/pull/a/%/1", "/api/traces/%ff"])(
  "a path with an escape of no character, %s, is missing, for pages as well",
  (url) => {
    const request = Object.assign(new IncomingMessage(new Socket()), { method: "GET", url, httpVersion: "1.0" });
    expect(refusalOf(request, "id", new Set())?.status).toBe(404);
  },
);
