import { expect, test } from "vitest";
import { GitEvidence } from "../../cli/adapters/git-evidence.ts";
import { makeToolCall, makeToolResult } from "../../cli/adapters/messages.ts";
import { publicRemote } from "../../common/evidence/remotes.ts";

/** What one command and its output prove. */
function read(command: unknown, output: string) {
  const evidence = new GitEvidence();
  evidence.see(makeToolCall("Bash", "c", typeof command === "string" ? { command } : command), 4);
  evidence.see(makeToolResult(output, { callId: "c" }), 5);
  return evidence.details();
}
const commits = (command: unknown, output: string) => read(command, output).commits ?? [];

const made = "[main abc1234] Mend the timer\n 1 file changed, 2 insertions(+)";
const mended = { hash: "abc1234", branch: "main", subject: "Mend the timer", position: 5 };

test("a commit has its hash, branch and subject, and the position of the result that shows it", () => {
  expect(read('git add -A && git commit -m "Mend the timer"', made)).toEqual({ commits: [mended] });
});

test.each([
  ["in another folder", "git -C '/home/ada/my code' -c user.name=Ada commit -m x"],
  ["with settings before it", 'GIT_AUTHOR_DATE="2026-11-01 10:00" git commit -m x'],
  ["in a list", ["bash", "-lc", "git commit -m x"]],
  ["in a quoted script", `bash -lc "git commit -m x"`],
  ["on a line of its own", "cd api\ngit commit -F - <<'END'\nwords\nEND"],
  ["on Windows", `& "C:\\Program Files\\Git\\bin\\git.exe" commit -m x`],
  ["a picked one", "git cherry-pick 1234567"],
  ["a reverted one", "git --no-pager revert HEAD --no-edit"],
])("a commit is found %s", (_, command) => {
  expect(commits(typeof command === "string" ? command : { command }, made)).toEqual([mended]);
  expect(commits({ cmd: command }, made)).toEqual([mended]);
});

test.each([
  ["another command", "cat build.log"],
  ["a search for the words", 'grep -rn "git commit" docs'],
  ["a command with a similar name", "git commit-tree HEAD"],
  ["an argument of that name", "git log commit"],
])("%s proves no commit", (_, command) => {
  expect(commits(command, made)).toEqual([]);
});

test("what is printed otherwise proves no commit", () => {
  expect(commits("git commit -q -m x && git rev-parse HEAD", "abc1234abc1234abc1234abc1234abc1234abc12")).toEqual([]);
  expect(
    commits("git commit -m x", "[STARTED] lint\n[worker 1234567] done\n> [main abc1234] quoted\n[main abc] x"),
  ).toEqual([]);
});

test("first commits, commits without a branch, amended ones, and several in one output are told apart", () => {
  const output = [
    "\u001b[32m[main (root-commit) 0a1b2c3] Begin\u001b[0m",
    " 1 file changed, 1 insertion(+)",
    "[detached HEAD 1b2c3d4] Try it\r",
    "[losgelöster HEAD (Root-Commit) 2c3d4e5] Versuch",
    "[feature/x-1 3456789] Digits",
    " Date: Sun Nov 1 10:00:00 2026 +0000",
    "[feature/x-1 5f60718293a4b5c6d7e8f90a1b2c3d4e5f607182] Long [hash] é",
  ].join("\n");
  expect(commits("git commit -am Begin; git commit --amend", output)).toEqual([
    { hash: "0a1b2c3", branch: "main", subject: "Begin", position: 5 },
    { hash: "1b2c3d4", subject: "Try it", position: 5 },
    { hash: "2c3d4e5", subject: "Versuch", position: 5 },
    { hash: "3456789", branch: "feature/x-1", subject: "Digits", position: 5 },
    {
      hash: "5f60718293a4b5c6d7e8f90a1b2c3d4e5f607182",
      branch: "feature/x-1",
      subject: "Long [hash] é",
      position: 5,
    },
  ]);
});

test("a hash counts once, in its longest form; a push names the remote without credentials", () => {
  const evidence = new GitEvidence();
  evidence.addOutput("git commit -m x", made, 5);
  evidence.addOutput("git commit -m x", made, 9);
  evidence.addCommit({ hash: "ABC1234abc1234abc1234abc1234abc1234abc12" });
  evidence.addCommit({ hash: "not a hash" });
  const pushed = "To https://ada:secret@git.test/ada/api.git\n   0000000..abc1234  main -> main";
  evidence.addOutput("git push origin main", pushed, 11);
  const hash = "abc1234abc1234abc1234abc1234abc1234abc12";
  expect(evidence.details().commits).toEqual([{ ...mended, hash, repository: "https://git.test/ada/api.git" }]);
});

test("pull requests are those that a command or a tool opened, one for each URL", () => {
  const url = "https://github.com/ada/api/pull/12";
  const opened = { number: 12, url, repository: "ada/api" };
  expect(read("gh pr create --fill", `Creating pull request\n\n${url}\n`)).toEqual({ pullRequests: [opened] });
  const merge = "https://git.test:8443/team/sub/api/-/merge_requests/7";
  expect(read("glab mr create", merge).pullRequests).toEqual([{ number: 7, url: merge, repository: "team/sub/api" }]);
  expect(read("gh pr view", url)).toEqual({});
  expect(read("git push", "remote: https://github.com/ada/api/pull/new/topic")).toEqual({});
  const evidence = new GitEvidence();
  evidence.see(makeToolCall("mcp__github__create_pull_request", "p", { title: "x" }), 0);
  evidence.see(makeToolResult(JSON.stringify({ html_url: url, id: 5 }), { callId: "p" }), 1);
  evidence.addPullRequest({ url: `${url}#issuecomment-1`, number: 12, repository: "ada/api" });
  evidence.addPullRequest({ url: "https://ada:secret@github.com/ada/web/pull/3?x=y" });
  evidence.addPullRequest({ url: "javascript:alert(1)", number: 1 });
  expect(evidence.details().pullRequests).toEqual([
    opened,
    { number: 3, url: "https://github.com/ada/web/pull/3", repository: "ada/web" },
  ]);
});

test("a call and its result in one message count, and a saved collector continues", () => {
  const evidence = new GitEvidence();
  const tool = { name: "bash", input: { command: "git commit -m x" } };
  evidence.see({ content: made, metadata: { tool } }, 5);
  evidence.see(makeToolCall("bash", "later", { command: "gh pr create" }), 6);
  const again = new GitEvidence(JSON.parse(JSON.stringify(evidence.save())));
  again.see(makeToolResult("https://github.com/ada/api/pull/1", { callId: "later" }), 7);
  expect(again.details()).toMatchObject({ commits: [mended], pullRequests: [{ number: 1 }] });
});

test("a session keeps a bounded number of them, in bounded bytes", () => {
  const many = (subject: string) => {
    const evidence = new GitEvidence();
    for (let at = 0; at < 2000; at++) {
      const hash = (0xabc_0000_0000 + at).toString(16);
      evidence.addOutput("git commit", `[main ${hash}] ${subject}`, at);
      evidence.addPullRequest({ url: `https://github.com/ada/api/pull/${at}` });
    }
    return evidence.details();
  };
  expect([many("x").commits?.length, many("x").pullRequests?.length]).toEqual([500, 500]);
  expect(JSON.stringify(many("語".repeat(1000))).length).toBeLessThan(100 * 1024);
});

test("a remote's URL has no credentials", () => {
  expect(publicRemote("https://ada:se@cret@git.test/ada/api.git?token=x#y")).toBe("https://git.test/ada/api.git");
  expect(publicRemote("https://token@github.com/ada/api")).toBe("https://github.com/ada/api");
  expect(publicRemote("ssh://git@git.test:22/ada/api.git")).toBe("ssh://git.test:22/ada/api.git");
  expect(publicRemote("git@github.com:ada/api.git")).toBe("git@github.com:ada/api.git");
  expect(publicRemote("ada:secret@git.test:api.git")).toBe("git.test:api.git");
  expect(publicRemote("/srv/git/api.git")).toBe("/srv/git/api.git");
  expect([publicRemote(""), publicRemote(7)]).toEqual([undefined, undefined]);
});

test("a remote that is longer than any takes no time", () => {
  for (const text of [":".repeat(1_000_000), `${"#".repeat(1_000_000)}\n#`, `https://${"#".repeat(1_000_000)}\n#`])
    expect(publicRemote(text)).toBeUndefined();
});

test.each(["\n", 'git A="x" ', "git -c ", "git -C 'x' ", "git;A=' ", "; git --x ", '& "/'])(
  "a hostile command that repeats %j is searched quickly",
  (part) => {
    const began = performance.now();
    expect(commits(part.repeat(200_000), made)).toEqual([]);
    expect(performance.now() - began).toBeLessThan(2000);
  },
);
