// What readers of a share link get, and whom they keep waiting.
import { request } from "node:http";
import { expect, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { limits } from "#lib/core/limits";
import { pool } from "#lib/db/client";
import { wholeRange } from "#lib/masking/for-others";
import { shareTrace } from "#lib/shares/shares";
import { makePng, naming, type Sample } from "../support/pictures.ts";
import { ingest, provideOwnedServer, someAddress } from "../support/server.ts";
import { bearer } from "./client.ts";

const { server, token, userId } = await provideOwnedServer();

async function share(sourceId: string, contents: string[], pictures: Sample[] = [], masked = true) {
  const messages = contents.map((content, position) => ({
    ...{ position, content, role: position % 2 === 0 ? "user" : "assistant" },
    metadata: position === 0 ? naming(...pictures) : {},
  }));
  await ingest(server, token, [{ sourceId, messages }]);
  const { rows } = await pool().query("select id, machine from trace where source_id = $1", [sourceId]);
  const shown = { ...wholeRange, masked, pictures: pictures.length > 0 };
  const link = await shareTrace(userId, rows[0].id, { ...shown, days: 1 }, operator);
  return { link: new URL(link).pathname, machine: String(rows[0].machine) };
}

test("a masked page names the session's machine nowhere: in no message, fold, title or outline", async () => {
  const contents = ["see ada-laptop", "on ada-laptop", "<details>ada-laptop</details>", "```\nada-laptop\n```"];
  const { link, machine } = await share("machine", contents);
  expect(machine).toBe("ada-laptop");
  const html = await (await fetch(server.url + link)).text();
  expect(html).toContain("on [machine]");
  expect(html).not.toContain(machine);
  const plain = await share("plain", contents, [], false);
  expect(await (await fetch(server.url + plain.link)).text()).toContain(machine);
});

test("readers of a link who take nothing of its pictures keep no other network waiting", async () => {
  const large = makePng({ extra: 5_000_000 });
  const put = await fetch(`${server.url}/api/pictures/${large.sha256}`, {
    method: "PUT",
    headers: { ...bearer(token), "Content-Type": large.mediaType },
    body: large.bytes,
  });
  expect(put.status).toBe(201);
  const { link } = await share("slow", ["see"], [large]);
  const path = `/api${link}/pictures/${large.sha256}`;
  const slow = someAddress();
  const { readsPerUser } = limits.pictures;
  const { promise: areStalled, resolve } = Promise.withResolvers<void>();
  let begun = 0;
  const stalled = Array.from({ length: readsPerUser + 1 }, () =>
    request(server.url + path, { headers: { "X-Forwarded-For": slow } }),
  );
  for (const one of stalled) {
    one.on("error", () => {});
    one.on("response", (response) => {
      response.pause();
      begun += 1;
      if (begun === readsPerUser) resolve();
    });
    one.end();
  }
  await areStalled;
  const other = await fetch(server.url + path, { headers: { "X-Forwarded-For": someAddress() } });
  expect(Buffer.from(await other.arrayBuffer()).equals(large.bytes)).toBe(true);
  for (const one of stalled) one.destroy();
});
