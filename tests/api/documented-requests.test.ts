import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { decideLogin, findLogin } from "#lib/device/login";
import { makeUser, provideServer } from "../support/server.ts";

const server = await provideServer();
const userId = await makeUser();
const folder = await mkdtemp(join(tmpdir(), "spoor-documented-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

type Fields = Record<string, unknown>;

/** The commands of a section of docs/client.md, and the response shown below each of them. */
async function readExamples(heading: string): Promise<{ command: string; shown: Fields | undefined }[]> {
  const text = (await readFile("docs/client.md", "utf8")).split("## With curl")[1] ?? "";
  const section = text.split(/^### /m).find((one) => one.startsWith(heading)) ?? "";
  const blocks = [...section.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language, code = ""]) => ({
    language,
    code,
  }));
  return blocks.flatMap(({ language, code }, index) => {
    const next = blocks[index + 1];
    const shown = next?.language === "json" ? (JSON.parse(next.code) as Fields) : undefined;
    return language === "sh" ? [{ command: code, shown }] : [];
  });
}

/** Runs a documented command with values for the variables that it leaves open. @returns the output of each of its lines */
async function run(command: string, variables: Record<string, string> = {}): Promise<string> {
  let script = command.replaceAll("http://localhost:3000", server.url);
  for (const [name, value] of Object.entries(variables)) {
    script = script.replace(new RegExp(`^${name}=.*$`, "m"), "").replaceAll(`$${name}`, value);
  }
  const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", script], { cwd: folder });
  return stdout;
}

/** A value with its leaves replaced by their types: what an example promises of a response. */
function getShape(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(getShape);
  if (typeof value !== "object" || value === null) return typeof value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, getShape(inner)]));
}

function expectShape(output: string, shown: Fields | undefined): Fields {
  const response = JSON.parse(output) as Fields;
  expect(getShape(response)).toEqual(getShape(shown));
  return response;
}

test("the documented requests work in their order, with responses of the documented shape", async () => {
  const [start, poll, session] = await readExamples("1. Log in");
  const started = expectShape(await run(start?.command ?? ""), start?.shown);
  const login = await findLogin(userId, String(started.userCode));
  await decideLogin(userId, login?.id ?? "", "approved", operator);
  const polled = await run(poll?.command ?? "", { DEVICE_CODE: String(started.deviceCode) });
  const { token } = expectShape(polled, poll?.shown);
  const TOKEN = String(token);
  expect(JSON.parse(await run(session?.command ?? "", { TOKEN }))).toMatchObject({ ok: true, userId });

  const [upload] = await readExamples("2. Send a batch");
  const JOB_ID = String(expectShape(await run(upload?.command ?? "", { TOKEN }), upload?.shown).jobId);

  const [job] = await readExamples("3. Watch the job");
  await expect
    .poll(async () => JSON.parse(await run(job?.command ?? "", { JOB_ID, TOKEN })).status, { timeout: 20_000 })
    .toBe("succeeded");
  const finished = expectShape(await run(job?.command ?? "", { JOB_ID, TOKEN }), job?.shown);
  expect(finished).toMatchObject({ traces: job?.shown?.traces, messages: job?.shown?.messages });

  const [reading] = await readExamples("4. Read it back");
  const lines = (reading?.command ?? "").split("\n").filter((line) => line.startsWith("curl"));
  const [list = "", search = "", messages = "", files = "", download = "", remove = ""] = lines;
  const listed = JSON.parse(await run(list, { TOKEN })) as { traces: { id: string }[] };
  expect(listed.traces).toHaveLength(1);
  const ID = listed.traces[0]?.id ?? "";
  await expect
    .poll(async () => JSON.parse(await run(search, { TOKEN })).traces, { timeout: 20_000 })
    .toEqual([expect.objectContaining({ id: ID })]);
  for (const query of ["retry timer", '"retry timer"', "src/lib/retry.ts"]) {
    expect(await readFile("docs/client.md", "utf8")).toContain(`\`${query}\``);
    expect(JSON.parse(await run(search.replace("q=retry timer", `q=${query}`), { TOKEN })).traces).toHaveLength(1);
  }
  expect(JSON.parse(await run(messages, { TOKEN, ID })).messages).toHaveLength(2);
  expect(JSON.parse(await run(files, { TOKEN }))).toMatchObject({ ok: true, files: [] });
  await run(download, { TOKEN });
  expect(await readFile(join(folder, "traces.jsonl"), "utf8")).toContain('"sourceId"');
  expect(await run(remove, { TOKEN, ID })).toBe("");
  expect(JSON.parse(await run(list, { TOKEN })).traces).toEqual([]);

  const [costs] = await readExamples("6. What it cost");
  const [report = "", file = ""] = (costs?.command ?? "").split("\n");
  expect(JSON.parse(await run(report, { TOKEN }))).toMatchObject({ ok: true, unit: "total", by: "model" });
  expect(await run(file, { TOKEN })).toMatch(/^from,to,project,sessions,/);

  const [telemetry] = await readExamples("5. Report");
  const reported = expectShape(await run(telemetry?.command ?? ""), telemetry?.shown);
  expect(reported).toEqual(telemetry?.shown);
});
