import { describe, expect, test } from "vitest";
import { listProjectSigns, parseFolder, parseRemote, projectName } from "#lib/transcript/project";

describe("a Git remote", () => {
  test.each([
    "https://github.com/Ada/Engine.git",
    "https://github.com/ada/engine",
    "https://GitHub.com/ada/engine/",
    "https://github.com:443/ada/engine.git/",
    "http://www.github.com/ada/engine.git",
    "https://ada:ghp_secret@github.com/ada/engine.git",
    "https://x-access-token:a@b@github.com/ada/engine?ref=x#readme",
    "git+https://github.com/ada/engine.git",
    "git://github.com/ada/engine.git",
    "ssh://git@github.com/ada/engine.git",
    "ssh://git@github.com:22/ada/engine",
    "ssh://git@ssh.github.com:443/ada/engine.git",
    "git@github.com:ada/engine.git",
    "git@github.com:/ada/engine.git",
    "github.com:ada/engine",
    "user:pass@github.com:ada/engine.git",
    "github.com/ada/engine",
    "  git@github.com.:ada//engine.git/  ",
  ])("%s is github.com/ada/engine", (url) => {
    expect(parseRemote(url)?.value).toBe("github.com/ada/engine");
  });

  test.each([
    ["https://git.example.org:8443/Team/Sub/Tool.git", "git.example.org/Team/Sub/Tool", "Tool"],
    ["ssh://git@git.example.org:2222/Team/Sub/Tool.git", "git.example.org/Team/Sub/Tool", "Tool"],
    ["git@git.example.org:Team/Sub/Tool", "git.example.org/Team/Sub/Tool", "Tool"],
    ["ssh://git@[2001:db8::1]:22/srv/tool.git", "[2001:db8::1]/srv/tool", "tool"],
    ["git@[2001:db8::1]:srv/tool.git", "[2001:db8::1]/srv/tool", "tool"],
    ["ada@nas:~/repos/tool.git", "nas/~/repos/tool", "tool"],
    ["https://dev.azure.com/Org/Shop/_git/Web", "dev.azure.com/org/shop/web", "Web"],
    ["git@ssh.dev.azure.com:v3/Org/Shop/Web", "dev.azure.com/org/shop/web", "Web"],
    ["git@github.com-work:ada/engine.git", "github.com-work/ada/engine", "engine"],
    ["https://gist.github.com/a1b2.git", "gist.github.com/a1b2", "a1b2"],
    ["https://github.com/ada/Engine.js", "github.com/ada/engine.js", "Engine.js"],
  ])("%s is %s", (url, value, name) => {
    expect(parseRemote(url)).toEqual({ value, name });
  });

  test.each([
    "",
    "/srv/git/tool.git",
    "../tool",
    "./a.b/c",
    "file:///srv/git/tool.git",
    "C:\\code\\tool",
    "C:/code/tool",
    "https://github.com",
    "https://github.com/",
    "https:///ada/engine",
    "https://github.com/ada/../engine",
    "git@github.com:",
    "javascript://github.com/ada/engine",
    "https://git hub.com/ada/engine",
    "https://github.com/ada/eng\nine",
    `https://github.com/${"a".repeat(3000)}`,
    "engine",
    null,
    7,
    { url: "https://github.com/ada/engine" },
  ])("%j is none", (url) => {
    expect(parseRemote(url)).toBeUndefined();
  });
});

describe("a folder", () => {
  test.each([
    ["/home/ada/engine", "/home/ada/engine", "engine"],
    ["/home/ada/engine/", "/home/ada/engine", "engine"],
    ["//home//ada/./engine/../tool", "/home/ada/tool", "tool"],
    ["C:\\Users\\Ada\\engine\\", "C:/Users/Ada/engine", "engine"],
    ["c:/Users/Ada/engine", "C:/Users/Ada/engine", "engine"],
    ["\\\\nas\\code\\engine", "//nas/code/engine", "engine"],
    ["~/engine", "~/engine", "engine"],
    ["/home/ada/a\\b", "/home/ada/a\\b", "a\\b"],
    // in their repository
    ["/home/ada/engine/.claude/worktrees/bright-running-fox", "/home/ada/engine", "engine"],
    ["/home/ada/engine/.claude/worktrees/agent-a1b2c3d4/lib", "/home/ada/engine", "engine"],
    ["/home/ada/engine/.claude/worktrees/a/.claude/worktrees/b", "/home/ada/engine", "engine"],
    ["C:\\code\\engine\\.claude\\worktrees\\x", "C:/code/engine", "engine"],
    ["/home/ada/.claude/worktrees/x", "/home/ada", "ada"],
    ["/home/ada/engine/.git", "/home/ada/engine", "engine"],
    ["/home/ada/engine/.git/worktrees/x", "/home/ada/engine", "engine"],
    ["/srv/git/engine.git/worktrees/x", "/srv/git/engine.git", "engine"],
    ["/home/ada/engine/.worktrees/x/lib", "/home/ada/engine", "engine"],
    ["/home/ada/engine/.kilocode/worktrees/x", "/home/ada/engine", "engine"],
    ["/home/ada/engine/.conductor/lisbon", "/home/ada/engine", "engine"],
    ["/home/ada/engine/worktrees/agent-a1b2c3d4", "/home/ada/engine", "engine"],
    // beside it
    ["/home/ada/engine.worktrees/x", "/home/ada/engine", "engine"],
    // where an agent collects those of all repositories
    ["/home/ada/.codex/worktrees/3ffe/engine", "/home/ada/.codex/worktrees/*/engine", "engine"],
    ["/home/ada/.codex/worktrees/bfc5/engine/lib/a", "/home/ada/.codex/worktrees/*/engine", "engine"],
    ["/Users/ada/.cursor/worktrees/engine/hvm", "/Users/ada/.cursor/worktrees/engine", "engine"],
    ["/Users/ada/.cursor/worktrees/engine/hvm/lib", "/Users/ada/.cursor/worktrees/engine", "engine"],
    ["/Users/ada/conductor/workspaces/engine/lisbon", "/Users/ada/conductor/workspaces/engine", "engine"],
    ["/Users/ada/conductor/workspaces/engine/lisbon/lib", "/Users/ada/conductor/workspaces/engine", "engine"],
    // what proves nothing is the folder itself
    ["/home/ada/worktrees/engine-fix", "/home/ada/worktrees/engine-fix", "engine-fix"],
    ["/home/ada/engine-worktrees/fix", "/home/ada/engine-worktrees/fix", "fix"],
    ["/home/ada/.codex/worktrees/3ffe", "/home/ada/.codex/worktrees/3ffe", "3ffe"],
    ["/home/ada/.worktrees/x", "/home/ada/.worktrees/x", "x"],
    ["/home/ada/.claude/projects", "/home/ada/.claude/projects", "projects"],
    ["/home/ada/.worktrees", "/home/ada/.worktrees", ".worktrees"],
  ])("%s is %s", (cwd, path, name) => {
    expect(parseFolder(cwd)).toEqual({ path, name });
  });

  test.each(["", "/", "C:\\", "engine", "./engine", "../engine", "~", `/${"a".repeat(5000)}`, 7, null, ["/a"]])(
    "%j is none",
    (cwd) => {
      expect(parseFolder(cwd)).toBeUndefined();
    },
  );
});

describe("one folder is one project in every spelling", () => {
  const makeKey = (cwd: string) =>
    listProjectSigns({ project: null, machine: "desk", metadata: { cwd } }).map(({ value }) => value);

  test.each([
    "C:\\Work\\Notes",
    "c:\\work\\notes",
    "c:/work/notes/",
    "C:\\Work/./Sub\\..\\NOTES\\",
    "\\\\?\\C:\\Work\\Notes",
    "\\\\.\\c:\\Work\\Notes",
    "//?/C:/Work/Notes",
    "/c:/Work/Notes",
    "C:\\Work\\Notes\\.Claude\\Worktrees\\bold-fox",
    "\\\\?\\C:\\Work\\Notes\\.WORKTREES\\x",
    "C:\\Work\\Notes.Worktrees\\x",
    "/mnt/c/Work/Notes",
    "/mnt/c/work/notes/.claude/worktrees/x",
    "\\\\wsl.localhost\\Debian\\mnt\\c\\Work\\Notes",
    "/c/Work/Notes",
    "/cygdrive/c/work/notes",
  ])("of Windows: %s", (cwd) => {
    expect(makeKey(cwd)).toEqual(["C:/work/notes"]);
  });

  test.each([
    "/home/ada/Notes",
    "\\\\wsl.localhost\\Debian\\home\\ada\\Notes",
    "\\\\WSL$\\Debian\\home\\ada\\Notes\\",
    "//wsl.localhost/Debian/home/ada/Notes",
    "\\\\?\\UNC\\wsl.localhost\\Debian\\home\\ada\\Notes",
  ])("of WSL: %s", (cwd) => {
    expect(makeKey(cwd)).toEqual(["/home/ada/Notes"]);
  });

  test.each(["\\\\NAS\\Code\\engine", "\\\\?\\UNC\\nas\\code\\Engine", "\\\\nas/code/engine/"])(
    "of a share: %s",
    (cwd) => {
      expect(makeKey(cwd)).toEqual(["//nas/code/engine"]);
    },
  );

  test("of macOS, which may take characters apart", () => {
    expect(makeKey("/Users/ada/Cafe\u0301")).toEqual(["/Users/ada/Caf\u00e9"]);
    expect(makeKey("/Users/ada/Caf\u00e9")).toEqual(["/Users/ada/Caf\u00e9"]);
  });

  test("and others are others, with their own case", () => {
    const others = ["/home/ada/notes", "/home/ada/Notes", "D:\\work\\notes", "/mnt/data/work", "/mnt/c", "/c", "/"];
    expect(others.flatMap(makeKey)).toEqual([
      ...["/home/ada/notes", "/home/ada/Notes", "D:/work/notes", "/mnt/data/work", "/mnt/c", "/c"],
    ]);
    expect(parseFolder("/c/Work/Notes")).toEqual({ path: "C:/Work/Notes", name: "Notes" });
  });
});

describe("what a trace tells of its project", () => {
  const given = (project: string | null, cwd?: string, repository?: string) =>
    listProjectSigns({ project, machine: "laptop", metadata: { cwd, repository } }).map(
      ({ kind, machine, value, name }) => `${kind} ${machine || "-"} ${value} ${name}`,
    );

  test("is its remote and its folder, or else the name that came with it", () => {
    expect(given("x", "/code/api", "git@github.com:Ada/API.git")).toEqual([
      "remote - github.com/ada/api API",
      "folder laptop /code/api api",
    ]);
    expect(given("x", "/code/api")).toEqual(["folder laptop /code/api api"]);
    expect(given("x")).toEqual(["name - x x"]);
    expect(given(null)).toEqual([]);
    expect(listProjectSigns({ project: null, machine: null, metadata: null })).toEqual([]);
  });

  test.each(["agent-a1b2c3d4", "agent-deadbeef", "agent-abc123", "Agent-A1B2C3D4E5F60718", "agent-12ab"])(
    "is never %s",
    (name) => {
      expect(given(name)).toEqual([]);
      expect(given(name, `/tmp/${name}`)).toEqual([]);
      expect(given(name, `/home/ada/worktrees/${name}`)).toEqual([]);
      expect(given(name, `/code/api/worktrees/${name}`)).toEqual(["folder laptop /code/api api"]);
      expect(given(name, `/tmp/${name}`, "https://github.com/ada/api")).toEqual(["remote - github.com/ada/api api"]);
    },
  );

  test.each(["agent-kit", "agent-facade", "agent", "agent-2", "my-agent-a1b2c3d4"])("may be %s", (name) => {
    expect(given(name)).toEqual([`name - ${name} ${name}`]);
  });

  test("has no characters in its name that can't be seen, and is bounded", () => {
    expect(projectName("\u202egnp.api\u0007\u2066 \n")).toBe("gnp.api");
    expect(projectName(`${"a".repeat(127)}😀`)).toBe("a".repeat(127));
    expect(given("\u202e\u0000")).toEqual([]);
    expect(given("<b>x</b>")).toEqual(["name - <b>x</b> <b>x</b>"]);
    expect(given("x", `/${"ä".repeat(600)}`)).toEqual(["name - x x"]); // its path is too long to recognize it by
  });
});
