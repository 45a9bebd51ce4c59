import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { isOwnListener, parseListeners } from "../../cli/update/update.ts";

const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:0BB8 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1001        0 4711 1 0 100 0 0 10 0
   1: 00000000000000000000000001000000:0BB8 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4712 1
   2: 0100007F:0BB8 0100007F:9C40 01 00000000:00000000 00:00000000 00000000  1002        0 4713 1
   3: 0100007F:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1003        0 4714 1
`;

test("a port's listeners are told by their users", () => {
  expect([parseListeners(table, 3000), parseListeners(table, 22), parseListeners(table, 80)]).toEqual([
    [1001, 0],
    [1003],
    [],
  ]);
});

test.runIf(process.platform === "linux")(
  "no program is taken from a port on which another account listens, nor from none",
  async () => {
    const server = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once("listening", resolve));
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const own = process.getuid?.() ?? 0;
    expect(await isOwnListener(address, own)).toBe(true);
    if (own !== 0) expect(await isOwnListener(address, own + 1)).toBe(false);
    expect(await isOwnListener("http://127.0.0.1:1")).toBe(false);
  },
);
