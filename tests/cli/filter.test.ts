import { describe, expect, test } from "vitest";
import { SessionFilter } from "../../cli/sessions/filter.ts";
import { Terminal } from "../../cli/terminal/terminal.ts";

/** Whether `--project` lets a session in `cwd` through. */
function matches(cwd: string, project: string, currentFolder = "/home/ada"): boolean {
  const stream = { write: () => {}, on: () => {} };
  const filter = new SessionFilter({
    host: { home: "/home/ada", cwd: currentFolder, env: {}, platform: "linux" },
    terminal: new Terminal(stream, stream, { isJson: false, env: {} }),
    values: { project: [project] },
    words: [],
    signal: new AbortController().signal,
  });
  return filter.wantsSession({ source: "claude-code", cwd }, "claude-code");
}

describe("--project with a folder matches sessions in it and below it", () => {
  test.each([
    ["/home/ada/code/api", "/home/ada/code/api", true],
    ["/home/ada/code/api/src", "/home/ada/code/api", true],
    ["/home/ada/code/api/src", "/home/ada/code/api/", true],
    ["/home/ada/code/api", "code", true],
    ["/home/ada/code/api", ".", true],
    ["/home/ada/code/api", "/", true],
    ["/home/ada/code/..api", "/home/ada/code", true],
    ["/home/ada/code/api-old", "/home/ada/code/api", false],
    ["/home/ada/code", "/home/ada/code/api", false],
    ["/home/ada/Code/api", "/home/ada/code", false],
  ])("%s in %s: %s", (cwd, folder, expected) => {
    expect(matches(cwd, folder)).toBe(expected);
  });
});

describe("--project with a Windows folder", () => {
  test.each([
    ["C:\\Users\\Ada\\code\\api", "C:\\Users\\Ada\\code\\api", true],
    ["C:\\Users\\Ada\\code\\api\\src", "C:\\Users\\Ada\\code\\api", true],
    ["C:\\Users\\Ada\\code\\api\\src", "C:/Users/Ada/code/api/", true],
    ["c:\\users\\ada\\CODE\\api", "C:\\Users\\Ada\\code", true],
    ["C:/Users/Ada/code/api", "C:\\Users\\Ada\\code", true],
    ["C:\\Users\\Ada", "C:\\", true],
    ["\\\\server\\share\\code\\api", "\\\\server\\share\\code", true],
    ["C:\\Users\\Ada\\code\\api-old", "C:\\Users\\Ada\\code\\api", false],
    ["D:\\Users\\Ada\\code", "C:\\Users\\Ada\\code", false],
    ["C:\\Users\\Ada\\code", "/home/ada", false],
    ["/mnt/c/Users/Ada/code", "C:\\Users\\ada", true],
    ["C:\\Users\\Ada\\code", "/mnt/c/users", true],
    ["C:\\Users\\Ada\\code", "/c/Users/Ada/", true],
    ["\\\\?\\C:\\Users\\Ada", "c:\\users", true],
    ["\\\\wsl$\\Debian\\home\\ada\\api", "/home/ada", true],
    ["/home/ada/Cafe\u0301", "/home/ada/Caf\u00e9", true],
  ])("%s in %s: %s", (cwd, folder, expected) => {
    expect(matches(cwd, folder)).toBe(expected);
  });

  test("may be relative to the current folder", () => {
    const current = "C:\\Users\\Ada";
    expect(matches("C:\\Users\\Ada\\code\\api", "code", current)).toBe(true);
    expect(matches("C:\\Users\\Ada\\code\\api", ".\\code\\API", current)).toBe(true);
    expect(matches("C:\\Users\\Bob\\code\\api", "code", current)).toBe(false);
  });
});
