import type { RequestListener } from "node:http";
import net from "node:net";
import { expect, test, vi } from "vitest";
import { loadAhead } from "#lib/server/load-ahead";

test("a request reaches the handler before any server listens, over no network", async () => {
  const connect = vi.spyOn(net.Socket.prototype, "connect");
  const handle = vi.fn<RequestListener>((_, response) => void response.end("ok"));
  await loadAhead(handle);
  expect(handle.mock.calls.map(([{ method, url }]) => [method, url])).toEqual([["GET", "/api/health"]]);
  expect(connect).not.toHaveBeenCalled();
  connect.mockRestore();
});
