import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { formatIssuePlace } from "../../../app/(app)/upload/run.ts";
import { FileFault, splitFile } from "../../../app/(app)/upload/split-file.ts";

const limits = { decodedBytes: 50_000_000, wireBytes: 1 << 26, traces: 1000 };
const trace = (sourceId: string, content = "text") => ({ sourceId, messages: [{ position: 0, content }] });

async function parts(content: string | Uint8Array<ArrayBuffer>, max = limits) {
  const found = [];
  for await (const part of splitFile(new Blob([content]), max)) found.push(part);
  return found;
}
const getTraces = ({ body }: { body: string }) => JSON.parse(body).traces as { sourceId: string }[];
const fault = (content: string | Uint8Array<ArrayBuffer>, max = limits) => expect(parts(content, max)).rejects;

describe("JSON lines", () => {
  const many = Array.from({ length: 2300 }, (_, n) => JSON.stringify(trace(`é-${n}`)));

  test("become batches of as many traces as one may have, in their order, and each knows its lines", async () => {
    const text = `\n${many.join("\r\n")}\n\n`;
    const found = await parts(text);
    expect(found.map((part) => getTraces(part).length)).toEqual([1000, 1000, 300]);
    expect(found.flatMap(getTraces).map(({ sourceId }) => sourceId)).toEqual(many.map((_, n) => `é-${n}`));
    expect(found[1]?.lines?.[0]).toBe(1002);
    expect(found.at(-1)?.readBytes).toBe(Buffer.byteLength(text));
  });

  test("are the same behind gzip, and behind a byte order mark", async () => {
    const text = many.join("\n");
    const plain = (await parts(text)).map(({ body }) => body);
    expect((await parts(new Uint8Array(gzipSync(text)))).map(({ body }) => body)).toEqual(plain);
    expect((await parts(`\ufeff${text}`)).map(({ body }) => body)).toEqual(plain);
  });

  test("are cut at 8 MB, except for a longer line; lines are not rewritten", async () => {
    const line = (name: string, length: number) =>
      `{"sourceId":"${name}","n":1e400,"messages":[],"x":"${"x".repeat(length)}"}`;
    const text = [line("a", 5e6), line("b", 5e6), line("c", 9e6), line("d", 1)].join("\n");
    const found = await parts(text);
    expect(found.map(({ lines }) => lines)).toEqual([[1], [2], [3], [4]]);
    expect(found.map(({ body }) => body.includes('"n":1e400'))).toEqual([true, true, true, true]);
  });

  test("are cut shorter where the server takes less at once", async () => {
    const lines = Array.from({ length: 9 }, (_, n) => JSON.stringify(trace(`${n}`, "文".repeat(400))));
    const found = await parts(lines.join("\n"), { ...limits, wireBytes: 2048 });
    expect(found.map((part) => getTraces(part).length)).toEqual([2, 2, 2, 2, 1]);
  });

  test("with one that is not JSON are refused there, and those before it are sent", async () => {
    const lines = [...many.slice(0, 1200), '{"sourceId":', ...many.slice(1200)];
    const found: unknown[] = [];
    const read = async () => {
      for await (const part of splitFile(new Blob([lines.join("\n")]), limits)) found.push(part);
    };
    await expect(read()).rejects.toThrow("Line 1201 is not valid JSON.");
    expect(found).toHaveLength(1);
  });
});

describe("JSON", () => {
  test("is sent as it is: a batch, a list of traces, one trace, on one line or on many", async () => {
    const one = trace("one");
    for (const space of [0, 2]) {
      for (const value of [{ version: 1, traces: [one] }, [one], one]) {
        const found = await parts(JSON.stringify(value, null, space));
        expect(found.flatMap(getTraces)).toEqual([one]);
        expect(found).toHaveLength(1);
      }
    }
  });

  test("without sessions, broken, empty, too long or not text is refused with a sentence", async () => {
    await fault('{"a":1}').toThrow("no sessions");
    await fault('{"traces":[').toThrow("not valid JSON");
    await fault(" \n \n").toThrow("empty");
    await fault(new Uint8Array([0x7b, 0xff, 0x7d])).toThrow("not UTF-8 text");
    await fault(new Uint8Array(gzipSync("{}")).slice(0, 15)).toThrow("not a complete gzip file");
    await fault(`[${"1,".repeat(100)}1]`, { ...limits, decodedBytes: 100 }).toThrow("too large for one batch");
    await fault(JSON.stringify([1, 2, 3], null, 10), { ...limits, decodedBytes: 30 }).toThrow(FileFault);
  });
});

test("an invalid field is reported with its line where the file has lines", () => {
  expect(formatIssuePlace("traces.1.messages.3.position", [4, 9])).toBe("line 9, messages.3.position");
  expect(formatIssuePlace("traces.0", [4, 9])).toBe("line 4");
  expect(formatIssuePlace("traces.0.messages.3.position", undefined)).toBe("traces.0.messages.3.position");
  expect(formatIssuePlace("traces", [4])).toBe("traces");
});
