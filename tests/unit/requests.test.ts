import { expect, test } from "vitest";
import { findDifference, listBefore, listMessages } from "../long/resume/requests.ts";

const body = Buffer.from(
  `{"model":"m","tools":[{"messages":[1]}],"x":"\\"messages\\":[{", "messages" : [{"role":"user","n":1.0,"t":"a]}\\""}, {"c":[{"d":"ü\\ud800"}]},{"t":"(script next)"},{"t":"said"},{"t":"(script next)"}],"z":{}}`,
);

test("a request's messages are taken byte for byte", () => {
  expect(listMessages(body, "messages")).toEqual([
    `{"role":"user","n":1.0,"t":"a]}\\""}`,
    Buffer.from(`{"c":[{"d":"ü\\ud800"}]}`).toString("latin1"),
    `{"t":"(script next)"}`,
    `{"t":"said"}`,
    `{"t":"(script next)"}`,
  ]);
  expect(listBefore({ body } as never, "messages", "next")).toHaveLength(4);
  expect(() => listBefore({ body } as never, "messages", "other")).toThrow("no message");
});

test("a conversation differs where one byte does, or a message is missing", () => {
  expect(findDifference(["a", "b"], ["a", "b", "c"])).toBeUndefined();
  expect(findDifference([`{"n":1.0}`], [`{"n":1}`])).toContain("message 0");
  expect(findDifference(["a", "b"], ["a"])).toContain("message 1");
});
