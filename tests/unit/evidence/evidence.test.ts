import { expect, test } from "vitest";
import { actsOfCommand, readActs } from "#common/evidence/commands";
import { proofIn } from "#common/evidence/output";
import { commitPage, pullRequestAt } from "#common/evidence/remotes";
import { plainText } from "#common/evidence/text";

const opened = (command: string, output: string) =>
  proofIn(actsOfCommand(command), output).pullRequests.map(({ url, act }) => [act, url]);

test("a command's acts are told apart", () => {
  expect(actsOfCommand("git add . && git commit -m x; git push && gh pr create --fill")).toEqual([
    "git-commit",
    "git-push",
    "gh-pr-create",
  ]);
  expect(actsOfCommand("glab mr new")).toEqual(["glab-mr-create"]);
  expect(actsOfCommand("gh pr view 3; gh pr list")).toEqual([]);
  expect(readActs("Bash", '{"command":["bash","-lc","git commit -m x"]}')).toEqual(["git-commit"]);
  expect(readActs("mcp__gitlab__create_merge_request", {})).toEqual(["pull-request-tool"]);
  expect(readActs("create_pull_request_review", {})).toEqual([]);
});

const pull = "https://github.com/ada/api/pull/12";
const merge = "https://gitlab.com/team/sub/api/-/merge_requests/7";

test("an address proves a pull request only on a line of its own, by the command that prints it", () => {
  expect(opened("gh pr create", `Creating pull request for x into main in ada/api\n\n${pull}\n`)).toEqual([
    ["gh-pr-create", pull],
  ]);
  expect(opened("glab mr create", `!7 Mend (x)\n ${merge}\n`)).toEqual([["glab-mr-create", merge]]);
  expect(opened("gh pr create", `See also: ${pull}`)).toEqual([]);
  expect(opened("gh pr create", merge)).toEqual([]);
  expect(opened("git commit -m x && gh pr view 12", pull)).toEqual([]);
});

test("what a command printed may follow a label on its first line", () => {
  const acts = actsOfCommand("git commit -m Mend && git push && gh pr create");
  const printed = (text: string) =>
    proofIn(acts, `Command: git commit\nDirectory: (root)\nOutput: ${text}\nExit Code: 0`);
  expect(printed("[branch 568910d] Mend it\n 1 file changed").commits).toEqual([
    { hash: "568910d", branch: "branch", subject: "Mend it" },
  ]);
  expect(printed("To github.com:ada/api.git\n   1111111..568910d  x -> x").pushes).toMatchObject([{ hash: "568910d" }]);
  expect(printed(pull).pullRequests).toMatchObject([{ url: pull }]);
  expect(printed("See [branch 568910d] Mend it\n 1 file changed").commits).toEqual([]);
});

test.each([
  ["a comment's", "gh pr create --fill && gh pr comment 12 -b x", `${pull}#issuecomment-123`],
  ["a review's", "gh pr create", `${pull}/files`],
  [
    "one of several that the call printed",
    "gh pr create; gh pr view 12 --json url -q .url",
    `${pull}\nhttps://github.com/ada/api/pull/13`,
  ],
  [
    "another one's, edited with a text that names the command",
    `gh pr edit 12 --body "$(cat <<'END'\ngh pr create\nEND\n)"`,
    pull,
  ],
  ["the one that a trial's text has", "gh pr create --title x --dry-run", pull],
  ["what a hook of GitHub's side says", "git push", `remote: ${pull}`],
  [
    "where a branch called pull/12 can be proposed",
    "git push",
    "remote:   https://github.com/ada/api/pull/new/pull/12",
  ],
])("%s address proves no pull request", (_, command, output) => {
  expect(opened(command, output)).toEqual([]);
});

test("a call that opens several proves all of them", () => {
  const both = `${pull}\nhttps://github.com/ada/web/pull/3\n`;
  for (const command of [
    "gh pr create --fill && cd ../web && gh pr create --fill",
    "for d in api web; do (cd $d && gh pr create --fill); done",
  ])
    expect(opened(command, both)).toHaveLength(2);
  expect(opened("gh pr create --fill; cat notes.md", both)).toEqual([]);
});

test("one address that several commands of a call print is the opened one's", () => {
  expect(opened("gh pr create --fill || gh pr edit 12 -t x", `${pull}\n${pull}\n`)).toEqual([["gh-pr-create", pull]]);
  expect(opened("bash <<'END'\ngh pr create --fill\nEND", pull)).toEqual([["gh-pr-create", pull]]);
  expect(opened(`git commit -F - <<END\ngh pr view\nEND\ngh pr create`, pull)).toEqual([["gh-pr-create", pull]]);
});

test("a commit has no branch where Git says that it has none, in any of its languages", () => {
  const read = (line: string) => proofIn(["git-commit"], `${line}\n 1 file changed`).commits;
  for (const words of [
    "detached HEAD",
    "HEAD détachée",
    "losgelöster HEAD",
    "несвързан връх „HEAD“",
    "HEAD 분리됨",
    "分離 HEAD",
  ])
    expect(read(`[${words} abc1234] x`)).toEqual([{ hash: "abc1234", subject: "x" }]);
  expect(read("[分离头指针 abc1234] x")).toEqual([{ hash: "abc1234", subject: "x" }]);
  expect(read("[main（根提交） abc1234] x")).toEqual([{ hash: "abc1234", branch: "main", subject: "x" }]);
  expect(read("[main (最上位コミット) abc1234] x")).toEqual([{ hash: "abc1234", branch: "main", subject: "x" }]);
});

test("what GitLab answers a push proves the merge request that is open", () => {
  const answer = `remote: \nremote: View merge request for x:\nremote:   ${merge}\nremote: \nTo gitlab.com:team/sub/api.git`;
  expect(opened("git push", answer)).toEqual([["git-push", merge]]);
  const invitation = "remote:   https://gitlab.com/team/api/-/merge_requests/new?merge_request%5Bsource_branch%5D=x";
  expect(opened("git push", invitation)).toEqual([]);
});

test("of a tool's answer the pull request itself counts, and not those that its text mentions", () => {
  const answer = { body: "After https://github.com/ada/api/pull/3", html_url: pull, base: { repo: {} } };
  const byTool = (output: string) => proofIn(["pull-request-tool"], output).pullRequests.map(({ url }) => url);
  expect(byTool(JSON.stringify(answer))).toEqual([pull]);
  expect(byTool(`Opened ${pull}, after https://github.com/ada/api/pull/3`)).toEqual([pull]);
  expect(byTool("Error: a pull request exists")).toEqual([]);
  expect(proofIn(["pull-request-tool"], `One exists already: ${pull}`, true).pullRequests).toEqual([]);
});

test("an address is read without credentials, and with a number that can be stored", () => {
  expect(pullRequestAt("https://ada:secret@GitHub.com/ada/api/pull/007/files?x#y")).toEqual({
    number: 7,
    url: "https://github.com/ada/api/pull/7",
    repository: "ada/api",
  });
  for (const number of ["0", "2147483648", "99999999999999999999"])
    expect(pullRequestAt(`https://github.com/ada/api/pull/${number}`)).toBeUndefined();
  expect(pullRequestAt(`https://github.com/ada/${"a".repeat(300)}/pull/1`)).toBeUndefined();
  const none = ["javascript:alert(1)//a/b/pull/1", "https://github.com/pull/1", "https://github.com/a/b/c/pull/1", 7];
  expect(none.map(pullRequestAt)).toEqual(none.map(() => undefined));
});

test("a commit has a page where its remote is on a well-known host", () => {
  const page = (remote: string) => commitPage(remote, "abc1234");
  expect(page("git@github.com:ada/api.git")).toBe("https://github.com/ada/api/commit/abc1234");
  expect(page("ssh://git@github.com:22/ada/api.git")).toBe("https://github.com/ada/api/commit/abc1234");
  expect(page("https://gitlab.com/team/sub/api/")).toBe("https://gitlab.com/team/sub/api/-/commit/abc1234");
  for (const remote of [
    "https://git.test/ada/api",
    "/srv/git/api.git",
    "https://github.com/ada",
    "constructor:a/b",
    "",
  ])
    expect(page(remote)).toBeUndefined();
});

test("texts are one line without what can't be seen or stored", () => {
  expect(plainText(" Fix\u202e it\nnow\u0000 \ud800!", 40)).toBe("Fix it now  �!");
  expect(plainText("a😀", 2)).toBe("a");
  expect([plainText("\u200e \n", 9), plainText(7, 9)]).toEqual([undefined, undefined]);
});

test.each([
  "[HEAD ",
  "[detached HEAD HEAD HEAD \n",
  "[main (root",
  "[main abc123",
  "https://a/b/",
  "\nhttps://a.b/c/d/pull/",
  '"url":"https://a',
  "\nTo ",
  "\n   abc1234..abc1234 ",
  "\u001b[1;",
  "\nremote: ",
])("a hundred kilobytes of %j prove nothing", (part) => {
  const output = part.repeat(100_000 / part.length);
  const { commits, pullRequests } = proofIn(["git-commit", "git-push", "gh-pr-create", "pull-request-tool"], output);
  expect([commits, pullRequests]).toEqual([[], []]);
});
