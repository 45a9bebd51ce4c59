import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

// In a process of its own: what it does holds for every server of a process.
const script = `
  import { createServer } from "node:http";
  import { adoptServers } from "./lib/server/adopt.ts";
  await adoptServers();
  const server = createServer(({ url }, response) => response.end("of " + url));
  const [own] = server.listeners("request");
  server.listen(0, "127.0.0.1", async () => {
    const seen = [];
    for (let n = 0; n < 3; n += 1) {
      const response = await fetch("http://127.0.0.1:" + server.address().port + "/x");
      const listeners = server.listeners("request");
      seen.push([await response.text(), response.headers.has("x-request-id"), listeners.length, listeners[0] === own]);
    }
    console.log(JSON.stringify(seen));
    process.exit();
  });
`;

test("a server that another program started is taken over once, and its listener answers as before", async () => {
  const words = ["--conditions=react-server", "--input-type=module", "--eval", script];
  const { stdout } = await promisify(execFile)(process.execPath, words);
  expect(JSON.parse(stdout)).toEqual(Array(3).fill(["of /x", true, 1, false]));
});
