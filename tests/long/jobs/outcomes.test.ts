import { expect, test } from "vitest";
import { getUploads } from "../../jobs/uploads.ts";
import { provideOwner } from "../../support/server.ts";

const { userId } = await provideOwner();
const { send } = getUploads(userId);

test("50,000 changed messages are compared without reading one table for each row of the other", async () => {
  const large = (word: string) => ({
    sourceId: "large",
    messages: Array.from({ length: 50_000 }, (_, position) => ({ position, content: word })),
  });
  await send(large("before"));
  const startedAt = performance.now();
  expect(await send(large("after"))).toMatchObject({ messages: { written: 50_000 } });
  expect(performance.now() - startedAt).toBeLessThan(30_000);
});
