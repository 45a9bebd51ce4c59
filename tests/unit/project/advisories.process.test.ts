import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

/** Runs the script with an npm that prints `output`; undefined never answers. */
async function check(output: string | undefined): Promise<{ code: number; text: string }> {
  const folder = await mkdtemp(join(tmpdir(), "spoor-advisories-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const npm = join(folder, "npm.mjs");
  const answer = `process.stdout.write(${JSON.stringify(output)}); process.exitCode = 1;`;
  await writeFile(npm, output === undefined ? "setInterval(() => {}, 1000);" : answer);
  const env = { ...process.env, npm_execpath: npm, ADVISORIES_TIMEOUT_SECONDS: output === undefined ? "0.5" : "60" };
  return new Promise((resolve) => {
    execFile(process.execPath, [".ci/advisories.mjs"], { env }, (error, text) => {
      resolve({ code: error ? Number(error.code) : 0, text });
    });
  });
}

/** A report of npm's with one advisory, once as the cause and once as what depends on it. */
const getReport = (severity: string) =>
  JSON.stringify({
    auditReportVersion: 2,
    vulnerabilities: {
      pg: {
        via: [
          { name: "pg", severity, title: "Bad", range: "<9", url: "https://github.com/advisories/GHSA-aaaa-bbbb-cccc" },
        ],
      },
      "pg-boss": { via: ["pg"] },
    },
  });

test("a high or critical advisory that is not allowed fails, a lower one is only listed", async () => {
  for (const severity of ["high", "critical"]) {
    const { code, text } = await check(getReport(severity));
    expect([code, text]).toEqual([
      1,
      expect.stringContaining(`GHSA-aaaa-bbbb-cccc ${severity} pg <9: Bad (NOT ALLOWED)`),
    ]);
  }
  const { code, text } = await check(getReport("moderate"));
  expect([code, text]).toEqual([
    0,
    expect.stringMatching(/\(noted\)\n(GHSA-.*\n)*1 advisories, 0 of them high or critical/),
  ]);
});

test.each([
  ["an endpoint that refuses", JSON.stringify({ message: "405 Method Not Allowed", error: { summary: "" } }), /405/],
  ["no network", JSON.stringify({ error: { code: "ENOTFOUND", summary: "request to the registry failed" } }), /failed/],
  ["no JSON", "npm is broken", /were NOT checked/],
  ["no answer", undefined, /no answer within 0.5 s/],
])("%s is said and fails nothing", async (_, output, told) => {
  const { code, text } = await check(output);
  expect([code, text]).toEqual([0, expect.stringMatching(told)]);
  expect(text).toContain("NOT checked");
});
