import { describe, expect, test } from "vitest";
import { findFile } from "#lib/ingest/accept/form-file";

/** A form as a browser sends it, and its type. */
async function sent(fields: [name: string, value: Blob | string, fileName?: string][]) {
  const data = new FormData();
  for (const [name, value, fileName] of fields)
    if (typeof value === "string") data.append(name, value);
    else data.append(name, value, fileName);
  const response = new Response(data);
  return [Buffer.from(await response.arrayBuffer()), response.headers.get("content-type") ?? ""] as const;
}

const text = (found: Buffer | undefined) => found?.toString();

describe("the file in a form", () => {
  test.each([
    ["alone", [["file", new Blob(["{}"])]]],
    [
      "beside others",
      [
        ["a", "1"],
        ["other", new Blob(["x"])],
        ["file", new Blob(["{}"]), 'a "b";\r\n name="c".json'],
        ["b", "2"],
      ],
    ],
  ] as [string, Parameters<typeof sent>[0]][])("%s is found", async (_, fields) => {
    expect(text(findFile(...(await sent(fields))))).toBe("{}");
  });

  test("may hold whatever is no boundary, and nothing", async () => {
    const content = '\r\n--x\r\n\r\n--\r\nContent-Disposition: form-data; name="file"; filename="b"\r\n\r\n\0\xff\r\n';
    for (const one of [content, "", "\r\n"])
      expect(text(findFile(...(await sent([["file", new Blob([one])]]))))).toBe(one);
  });

  test.each([
    ["a text in its place", [["file", "{}"]]],
    ["another name", [["files", new Blob(["{}"])]]],
    [
      "more parts before it than a page sends",
      [...Array.from({ length: 16 }, () => ["a", ""]), ["file", new Blob(["{}"])]],
    ],
  ] as [string, Parameters<typeof sent>[0]][])("is missing in a form with %s", async (_, fields) => {
    expect(findFile(...(await sent(fields)))).toBeUndefined();
  });

  test("is missing in what is no form, or not whole", async () => {
    const [whole, type] = await sent([["file", new Blob(["{}"])]]);
    for (let length = 0; length < whole.length - `--${type.split("=")[1]}--\r\n`.length; length += 1)
      expect(findFile(whole.subarray(0, length), type)).toBeUndefined();
    expect(findFile(whole, "multipart/form-data")).toBeUndefined();
    expect(findFile(whole, "multipart/form-data; boundary=other")).toBeUndefined();
    expect(text(findFile(whole, type.replace(/boundary=(.*)/, 'charset=utf-8; Boundary="$1"')))).toBe("{}");
  });
});
