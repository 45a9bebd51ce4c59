import type * as Sdk from "@modelcontextprotocol/server";
import { z } from "zod";

/** A transparent pixel. */
const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABpfZFQAAAAABJRU5ErkJggg==";
/** The head of a sound without samples. */
const wav = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

const text = (text: string) => ({ type: "text" as const, text });
const image = { type: "image" as const, data: png, mimeType: "image/png" };
const audio = { type: "audio" as const, data: wav, mimeType: "audio/wav" };
const embedded = (uri: string) => ({
  type: "resource" as const,
  resource: { uri, mimeType: "text/plain", text: "An embedded resource." },
});

/** The server that the protocol's conformance suite expects, as far as it is of what Spoor's server does. */
export function fixtureServer({ McpServer, ResourceTemplate, ResourceNotFoundError }: typeof Sdk): Sdk.McpServer {
  const server = new McpServer({ name: "fixtures", version: "1" }, { capabilities: { ...fixed } });
  addTools(server);
  const plain = { title: "Text", description: "A text.", mimeType: "text/plain" };
  server.registerResource("text", "test://static-text", plain, ({ href: uri }) => ({
    contents: [{ uri, mimeType: "text/plain", text: "The text of a resource." }],
  }));
  const picture = { title: "Picture", description: "A picture.", mimeType: "image/png" };
  server.registerResource("picture", "test://static-binary", picture, ({ href: uri }) => ({
    contents: [{ uri, mimeType: "image/png", blob: png }],
  }));
  const template = new ResourceTemplate("test://template/{id}/data", { list: undefined });
  server.registerResource("template", template, plain, ({ href: uri }, { id }) => {
    if (id === "none") throw new ResourceNotFoundError(uri);
    return { contents: [{ uri, mimeType: "application/json", text: JSON.stringify({ id, templateTest: true }) }] };
  });
  addPrompts(server);
  return server;
}

const fixed = { tools: { listChanged: false }, resources: { listChanged: false }, prompts: { listChanged: false } };

function addTools(server: Sdk.McpServer): void {
  const answers = {
    test_simple_text: [text("This is a simple text response for testing.")],
    test_image_content: [image],
    test_audio_content: [audio],
    test_embedded_resource: [embedded("test://embedded-resource")],
    test_multiple_content_types: [text("Several kinds."), image, embedded("test://mixed-content-resource")],
  };
  for (const [name, content] of Object.entries(answers))
    server.registerTool(name, { description: `Answers ${name}.`, inputSchema: z.object({}) }, () => ({ content }));
  server.registerTool("test_error_handling", { description: "Fails.", inputSchema: z.object({}) }, () => {
    throw new Error("This tool intentionally returns an error for testing");
  });
}

function addPrompts(server: Sdk.McpServer): void {
  const said = (...content: Sdk.ContentBlock[]) => ({
    messages: content.map((content) => ({ role: "user" as const, content })),
  });
  server.registerPrompt("test_simple_prompt", { description: "A prompt." }, () => said(text("A simple prompt.")));
  const two = z.object({ arg1: z.string(), arg2: z.string() });
  server.registerPrompt("test_prompt_with_arguments", { description: "Takes two.", argsSchema: two }, (given) =>
    said(text(`Prompt with arguments: arg1='${given.arg1}', arg2='${given.arg2}'`)),
  );
  const uri = z.object({ resourceUri: z.string() });
  server.registerPrompt(
    "test_prompt_with_embedded_resource",
    { description: "Embeds.", argsSchema: uri },
    ({ resourceUri }) => said(embedded(resourceUri), text("Read the embedded resource.")),
  );
  server.registerPrompt("test_prompt_with_image", { description: "Shows." }, () => said(image, text("Look at it.")));
}
