// `npm run release`: makes what a release consists of, in `release/`; docs/install.md says how to run it.
import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { EnvError, UsageError } from "#lib/core/errors";
import { runCommand, say } from "#server/commands/command";
import { tryRelease } from "../../tests/long/release/trial.ts";
import { makeRelease, releaseFolder } from "./make.ts";

const help = `Usage: npm run release [-- OPTION]

Makes the npm packages of the server and the client, a list of their components,
the notes and SHA256SUMS in the folder ${releaseFolder}, from a checkout without changes.

  --check            also from one with changes; then try it as a stranger would: npx in
                     an empty folder with an empty home, on Node 20, 22 and 24
  --try              try what is in ${releaseFolder} already
  --tag TAG          fail unless TAG is that of this version, such as v1.2.3
  --repository URL   where the sources are, for the packages`;

/** @throws where Git knows of changes: a release could not be made again */
function expectClean(): void {
  const changes = execFileSync("git", ["status", "--porcelain"], { encoding: "utf8" });
  if (changes) throw new EnvError(`A release is made of what is committed. These are not:\n${changes.trimEnd()}`);
}

await runCommand(async () => {
  const flag = { type: "boolean" } as const;
  const text = { type: "string" } as const;
  const options = { check: flag, try: flag, tag: text, repository: text, help: flag };
  const { values } = parseArgs({ options });
  if (values.help) return say(help);
  const { version } = JSON.parse(await readFile("package.json", "utf8")) as { version: string };
  if (values.tag !== undefined && values.tag !== `v${version}`) {
    throw new UsageError(`The tag is ${values.tag}, and this is version ${version}.`);
  }
  if (values.try) return tryRelease(releaseFolder, say);
  if (!values.check) expectClean();
  await makeRelease(say, values.repository);
  if (values.check) await tryRelease(releaseFolder, say);
});
