import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { forRequest } from "#lib/core/current-request";
import { limits } from "#lib/core/limits";
import { streamGrowth } from "#lib/traces/growth";
import { provideOwner } from "../support/server.ts";
import { getUploads, messages } from "./uploads.ts";

const { userId } = await provideOwner();
const { send, stored } = getUploads(userId);
const unknown = "00000000-0000-7000-8000-000000000000";

test("a user's streams of growth are bounded, and each that ends makes room for exactly one", async () => {
  await send({ sourceId: "streamed", messages: messages("Mend the timer") });
  const { id = "" } = (await stored("streamed")) ?? {};
  const open = async (client = new AbortController(), traceId = id) => {
    const stream = await forRequest(client, () => streamGrowth(userId, traceId, 0));
    return stream && { client, stream };
  };
  const fill = async () => {
    const opened: ReadableStream[] = [];
    for (let one = await open(); one; one = await open()) opened.push(one.stream);
    return opened;
  };
  const watched = await open();
  const opened = await fill();
  expect(opened).toHaveLength(limits.traces.growthStreams - 1);

  const reader = watched?.stream.getReader();
  for (let chunk = 0; chunk < 2; chunk += 1) await reader?.read();
  await sleep(100); // until it waits for a change
  watched?.client.abort();
  await reader?.cancel();
  opened.push(...(await fill()));
  expect(opened).toHaveLength(limits.traces.growthStreams);

  await opened.shift()?.cancel();
  await expect(open(new AbortController(), unknown)).rejects.toMatchObject({ code: "not_found" });
  const unread = await open();
  expect(unread).toBeDefined();
  unread?.client.abort();
  opened.push(...(await fill()));
  expect(opened).toHaveLength(limits.traces.growthStreams);
  for (const stream of opened) await stream.cancel();
});
