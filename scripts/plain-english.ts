// `npm run lint` counts what makes comments, names and commit subjects hard to read, and fails where it grows.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

const git = (...words: string[]) => execFileSync("git", words, { encoding: "utf8" }).split("\n").filter(Boolean);
const problems: string[] = [];

/** Comments that begin like this hold a noun phrase instead of a sentence. */
const phrase = /^(What|Whether|Of|Where|How|Who|One that|So many)\b/;
const limits = { phrases: 0.01, words: 45_000, wordsPerFile: 320, subject: 72, longSubjects: 15 };

let comments = 0;
let phrases = 0;
let words = 0;
for (const file of git("ls-files", "app", "cli", "common", "lib", "server").filter((path) => /\.tsx?$/.test(path))) {
  const source = readFileSync(file, "utf8");
  let ofFile = 0;
  for (const [comment] of source.matchAll(/(?<![\w*])\/\*[\s\S]*?\*\/|(?:^[ \t]*\/\/.*\n)+/gm)) {
    const text = comment.replaceAll(/^[ \t]*(?:\/\*+|\*+\/?|\/\/)|\*\/$/gm, "").trim();
    comments += 1;
    if (phrase.test(text)) phrases += 1;
    ofFile += text.split(/\s+/).length;
  }
  if (ofFile > limits.wordsPerFile)
    problems.push(`${file}: ${ofFile} words of comments, at most ${limits.wordsPerFile}`);
  words += ofFile;
  for (const [, name] of source.matchAll(/(?:function|const) ([a-z]\w*Of)(?: = (?:async )?(?:\(|\w+ =>)|[<(])/g))
    problems.push(`${file}: ${name} is no verb`);
}
if (phrases / comments > limits.phrases)
  problems.push(
    `${phrases} of ${comments} comments begin with What, Whether, Of, Where, How, Who, One that or So many`,
  );
if (words > limits.words) problems.push(`${words} words of comments, at most ${limits.words}`);

const long = git("log", "--no-merges", "--max-count=300", "--format=%s").filter(
  ({ length }) => length > limits.subject,
);
if (long.length > limits.longSubjects) problems.push(`Subjects over ${limits.subject} characters:`, ...long);

for (const problem of problems) process.stderr.write(`${problem}\n`);
process.stdout.write(`Plain English: ${words} words in ${comments} comments, ${phrases} without a sentence.\n`);
if (problems.length > 0) process.exitCode = 1;
