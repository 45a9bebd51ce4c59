import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import * as sdk from "@modelcontextprotocol/server";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { setEnv } from "#lib/core/env";
import { errorTable, SpoorError } from "#lib/core/errors";
import { openTransport } from "#lib/mcp/transport";
import { isLong } from "../../support/long.ts";
import { fixtureServer } from "./mcp-fixtures.ts";

// The protocol's own suite against Spoor's transport, with the fixtures that its scenarios call.
const answer = openTransport(sdk, () => fixtureServer(sdk));
const server = createServer(async (incoming, response) => {
  let text = "";
  for await (const part of incoming) text += part;
  const headers = new Headers(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]));
  const reply = await readAnswer(new Request(`http://localhost${incoming.url}`, { method: "POST", headers }), text);
  response.writeHead(reply.status, Object.fromEntries(reply.headers)).end(await reply.text());
});

async function readAnswer(request: Request, text: string): Promise<Response> {
  if (!text) return new Response(null, { status: 405, headers: { Allow: "POST" } });
  try {
    const reader = { userId: "", projectId: null };
    return await answer({ request, body: JSON.parse(text), reader });
  } catch (error) {
    return Response.json({}, { status: error instanceof SpoorError ? errorTable[error.code].status : 500 });
  }
}

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  setEnv({ BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});
afterAll(() => void server.close());

/** The checks of what Spoor's server doesn't do, and doesn't say that it does, by the reason. */
const notApplying = {
  "2026-07-28": {
    "it offers no completion of arguments": ["completion-complete"],
    "its tools ask neither the person nor the model": [
      "sep-2322-elicitation-incomplete",
      "sep-2322-list-roots-incomplete",
      "sep-2322-multi-round-r1",
      "sep-2322-multiple-inputs-incomplete",
      "sep-2322-non-tool-incomplete",
      "sep-2322-reject-tampered-state",
      "sep-2322-request-state-incomplete",
      "sep-2322-respect-client-capabilities",
      "sep-2322-result-type-included",
      "sep-2322-sampling-incomplete",
      "sep-2575-missing-capability-http-400",
      "sep-2575-server-rejects-undeclared-capability",
    ],
    "nothing is sent before a tool's answer": [
      "sep-2575-http-server-no-independent-requests-on-stream",
      "sep-2575-server-no-log-without-loglevel",
      "tools-call-with-progress",
    ],
  },
  "2025-11-25": {
    "it offers no completion of arguments": ["completion-complete"],
    "its tools ask neither the person nor the model": [
      "elicitation-sep1034-general",
      "elicitation-sep1330-general",
      "tools-call-elicitation",
      "tools-call-sampling",
    ],
    "nothing is sent before a tool's answer": [
      "logging-set-level",
      "tools-call-with-logging",
      "tools-call-with-progress",
    ],
    "its resources can't be watched": ["resources-subscribe", "resources-unsubscribe"],
  },
};

/** @returns the checks of a revision's required scenarios that failed, and how many there were */
async function checked(revision: string): Promise<{ passed: number; failed: string[] }> {
  const folder = await mkdtemp(join(tmpdir(), "spoor-conformance-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const suite = "tools/node_modules/@modelcontextprotocol/conformance/dist/index.js";
  const args = [suite, "server", "--url", `${process.env.BASE_URL}/mcp`, "--requirements", revision, "-o", folder];
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 64e6 }).catch((failed) => failed);
  const optional = String(stdout).split("Not scored")[1] ?? "";
  const all: { id: string; status: string }[] = [];
  for (const path of await readdir(folder, { recursive: true })) {
    const scenario = /^server-(.+)-\d{4}-/.exec(path)?.[1];
    if (path.endsWith("checks.json") && !optional.includes(` ${scenario} (`))
      all.push(...JSON.parse(await readFile(join(folder, path), "utf8")));
  }
  const failed = new Set(all.filter(({ status }) => status === "FAILURE").map(({ id }) => id));
  return { passed: all.filter(({ status }) => status === "SUCCESS").length, failed: [...failed].sort() };
}

const revisions = [
  ["2026-07-28", 85],
  ["2025-11-25", 45],
] as const;

test.each(isLong ? revisions : revisions.slice(0, 1))(
  "what applies of revision %s is as its conformance suite wants it",
  async (revision, least) => {
    const { passed, failed } = await checked(revision);
    expect(failed).toEqual(Object.values(notApplying[revision]).flat().sort());
    expect(passed).toBeGreaterThanOrEqual(least);
  },
  120_000,
);
