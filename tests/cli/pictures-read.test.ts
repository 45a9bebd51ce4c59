import { expect, test } from "vitest";
import type { Adapter } from "../../cli/adapters/adapter.ts";
import { amp } from "../../cli/adapters/amp/adapter.ts";
import { claudeCode } from "../../cli/adapters/claude-code/adapter.ts";
import { cline } from "../../cli/adapters/cline/adapter.ts";
import { codex } from "../../cli/adapters/codex/adapter.ts";
import { continueDev } from "../../cli/adapters/continue/adapter.ts";
import { copilot } from "../../cli/adapters/copilot/adapter.ts";
import { gemini } from "../../cli/adapters/gemini/adapter.ts";
import { kimi } from "../../cli/adapters/kimi/adapter.ts";
import { opencode } from "../../cli/adapters/opencode/adapter.ts";
import { pi } from "../../cli/adapters/pi/adapter.ts";
import { formatData, maxPictureBytes, takePictures } from "../../cli/adapters/pictures.ts";
import { qwen } from "../../cli/adapters/qwen/adapter.ts";
import { said } from "./claude-lines.ts";
import { task, text } from "./cline-tasks.ts";
import { makeHome, parseAll, toLines } from "./home.ts";
import { files, question } from "./opencode-files.ts";
import { makePicture } from "./picture.ts";

const [one, two] = [makePicture(1), makePicture(2, 3000, "image/webp")];
const timestamp = "2026-11-01T10:00:00.000Z";
const inline = (picture: typeof one) => ({ inlineData: { mimeType: picture.mediaType, data: picture.data } });
const image = (picture: typeof one) => ({ type: "image", data: picture.data, mimeType: picture.mediaType });
const codexItem = (payload: object) => ({ timestamp, type: "response_item", payload });
const inputImage = (picture: typeof one) => ({ type: "input_image", image_url: picture.url });
const response = { functionResponse: { id: "c1", name: "read_file", response: { output: "One item." } } };
const event = (type: string, about: object) => ({ type, data: about, id: type, timestamp });
const asset = { assetId: "sha256:1", type: "image", mimeType: one.mediaType };

/** Two pictures in the form of each agent, the second one a tool's where the agent tells that apart. */
const homes: [Adapter, Record<string, string>][] = [
  [
    claudeCode,
    {
      ".claude/projects/-x/s.jsonl": toLines(
        said([one.block, { type: "text", text: "Look" }], { uuid: "u1" }),
        said([{ type: "tool_result", tool_use_id: "c1", content: [{ type: "text", text: "Read" }, two.block] }], {
          uuid: "u2",
        }),
      ),
    },
  ],
  [
    codex,
    {
      ".codex/sessions/2026/11/01/rollout-2026-11-01T10-00-00-s.jsonl": toLines(
        { timestamp, type: "session_meta", payload: { id: "s", cwd: "/x" } },
        codexItem({ type: "message", role: "user", content: [{ type: "input_text", text: "Look" }, inputImage(one)] }),
        codexItem({ type: "function_call", call_id: "c1", name: "view_image", arguments: "{}" }),
        codexItem({ type: "function_call_output", call_id: "c1", output: [inputImage(two)] }),
      ),
    },
  ],
  [
    gemini,
    {
      ".gemini/tmp/web/chats/session-x.jsonl": toLines(
        { sessionId: "s", projectHash: "web", startTime: timestamp, kind: "main" },
        { id: "u1", timestamp, type: "user", content: [{ text: "Look" }, inline(one)] },
        { id: "u2", timestamp, type: "user", content: [response, inline(two)] },
      ),
    },
  ],
  [
    qwen,
    {
      ".qwen/projects/-web/chats/s.jsonl": toLines(
        { uuid: "u", sessionId: "s", timestamp, type: "user", message: { parts: [{ text: "Look" }, inline(one)] } },
        { uuid: "t", sessionId: "s", timestamp, type: "tool_result", message: { parts: [response, inline(two)] } },
      ),
    },
  ],
  [
    opencode,
    files("ses_1", [
      {
        ...question("Look"),
        parts: [one, two].map(({ url, mediaType }) => ({ type: "file", mime: mediaType, filename: "a", url })),
      },
    ]),
  ],
  [
    pi,
    {
      ".pi/agent/sessions/-x/t_s.jsonl": toLines(
        { type: "session", version: 3, id: "s", timestamp, cwd: "/x" },
        { type: "message", id: "a", timestamp, message: { role: "user", content: [image(one)] } },
        {
          type: "message",
          id: "b",
          timestamp,
          message: { role: "toolResult", toolCallId: "c1", content: [image(two)] },
        },
      ),
    },
  ],
  [
    cline,
    task({
      "api_conversation_history.json": [
        { role: "user", content: [text("<task>\nLook\n</task>"), one.block] },
        { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "read_file", input: { path: "a.png" } }] },
        { role: "user", content: [two.block, text("[read_file for 'a.png'] Result:\nRead")] },
      ],
    }),
  ],
  [
    continueDev,
    {
      ".continue/sessions/s.json": JSON.stringify({
        sessionId: "s",
        history: [
          {
            message: { role: "user", content: [one, two].map(({ url }) => ({ type: "imageUrl", imageUrl: { url } })) },
          },
        ],
      }),
    },
  ],
  [
    copilot,
    {
      ".copilot/session-state/s/events.jsonl": toLines(
        event("session.start", { sessionId: "s" }),
        event("session.binary_asset", { ...asset, data: one.data }),
        event("user.message", { content: "Look", attachments: [asset] }),
        event("session.binary_asset", { ...asset, mimeType: two.mediaType, assetId: "sha256:2", data: two.data }),
        event("tool.execution_complete", {
          toolCallId: "c1",
          success: true,
          result: { content: "Viewed", binaryResultsForLlm: [{ ...asset, assetId: "sha256:2" }] },
        }),
      ),
    },
  ],
  [
    amp,
    {
      ".local/share/amp/threads/T-1.json": JSON.stringify({
        id: "T-1",
        messages: [{ role: "user", content: [one.block, two.block] }],
      }),
    },
  ],
  [
    kimi,
    {
      ".kimi-code/sessions/wd_web_1/session_1/agents/main/wire.jsonl": toLines(
        { type: "metadata", protocol_version: "1.0", created_at: Date.parse(timestamp) },
        {
          type: "context.append_message",
          message: {
            role: "user",
            content: [one, two].map(({ url }) => ({ type: "image_url", imageUrl: { url } })),
            origin: { kind: "user" },
          },
          time: Date.parse(timestamp),
        },
      ),
    },
  ],
];

test.each(homes.map(([adapter, home]) => [adapter.name, adapter, home] as const))(
  "of %s: placeholders in the texts, and references in their order",
  async (_, adapter, home) => {
    const { sessions } = await parseAll(adapter, await makeHome(home));
    const messages = sessions.flatMap((session) => session.messages);
    expect(messages.flatMap(({ metadata }) => metadata?.pictures ?? [])).toEqual([one.reference, two.reference]);
    const placeholders = messages.flatMap(({ content }) => content.match(/\[image: [^\]]+\]/g) ?? []);
    expect(placeholders.map((found) => found.replace(/, \d+ KiB/, ""))).toEqual([
      "[image: image/png]",
      "[image: image/webp]",
    ]);
    expect(messages.some(({ content }) => /[\ue000-\uf8ff]/.test(content))).toBe(false);
  },
);

const taken = (content: string) => takePictures({ content });

test("what has too many bytes or pixels, is of another format, or only an address stays a placeholder", () => {
  const svg = makePicture(1, 200, "image/svg+xml");
  const large = makePicture(1, maxPictureBytes + 1);
  const vast = Buffer.from(makePicture(1).data, "base64");
  vast.writeUInt32BE(30_000, 16);
  vast.writeUInt32BE(30_000, 20);
  const bomb = { data: vast.toString("base64"), mediaType: "image/png" };
  for (const { data: told, mediaType } of [svg, large, bomb, { data: "no base64!", mediaType: "image/png" }]) {
    const { references, message } = taken(formatData("image", mediaType, told));
    expect([references, message.content.startsWith(`[image: ${mediaType}, `)]).toEqual([[], true]);
  }
  expect(taken(formatData("image", "image/png", "https://example.org/a.png")).references).toEqual([]);
  expect(taken(formatData("file", "application/pdf", one.data)).references).toEqual([]);
  expect(taken(formatData("image", "image/png", makePicture(1, maxPictureBytes).data)).references).toHaveLength(1);
});

test("a picture is what its bytes say, whatever the agent calls it", () => {
  const { references, message } = taken(formatData("image", "image/png", two.data));
  expect(references).toEqual([two.reference]);
  expect(message.content).toBe("[image: image/png, 3 KiB]");
});

test("no text of a file passes for a picture", () => {
  const real = formatData("image", "image/png", one.data);
  const forged = real.replace(/\ue0f0[0-9a-f]{16}/, `\ue0f0${"0".repeat(16)}`);
  expect(taken(forged)).toMatchObject({ references: [], message: { content: forged } });
  expect(taken(real).references).toEqual([one.reference]);
});
