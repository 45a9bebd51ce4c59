import { describe, expect, test } from "vitest";
import { maskForOthers } from "#common/secrets/mask";
import { forOthers, isWithin, readHiddenNames, textForOthers } from "#lib/masking/for-others";
import { countHomes } from "#lib/masking/home-folders";
import { makeHider, maskPieces } from "#lib/masking/mask-pieces";
import { sharingIn } from "../../../app/(app)/traces/[id]/share/range";

test.each([
  ["cd /home/ada/api && ls", "cd ~/api && ls"],
  ["/Users/ada.l/x and '/home/ada'", "~/x and '~'"],
  ["C:\\Users\\Ada\\api", "~\\api"],
  ['{"cwd":"C:\\\\Users\\\\Ada\\\\api"}', '{"cwd":"~\\\\api"}'],
  ["https://example.org/home/page", "https://example.org/home/page"],
  ["/var/home/ada/x, /mnt/c/Users/ada/x, /c/Users/ada/x, \\\\wsl$\\Ubuntu\\home\\ada\\x", "~/x, ~/x, ~/x, ~\\x"],
  ["/home/jos\u00e9/x, /home/\u0430\u0434\u0430, C:\\Users\\Ada King\\x, c:\\users\\ada", "~/x, ~, ~\\x, ~"],
  ['{"output":"a\\n/home/ada/x \\t/Users/ada \\\\n/Users/ada"}', '{"output":"a\\n~/x \\t~ \\\\n~"}'],
  ["\u001b[34m/home/ada\u001b[0m, \\u001b[34m/home/ada", "\u001b[34m~\u001b[0m, \\u001b[34m~"],
  [
    "\\/home\\/ada\\/x, file%3A%2F%2F%2Fhome%2Fada%2Fx, file:///C:/Users/Ada%20King",
    "~\\/x, file%3A%2F%2F~%2Fx, file:///~",
  ],
  ["~/.claude/projects/-home-ada-api, C--Users-ada-api", "~/.claude/projects/-home-[user]-api, C--Users-[user]-api"],
  ["/home/ada.king/x in -home-ada-king-x", "~/x in -home-[user]-x"],
  ["test/home/ada fix-home-page --home-dir -home", "test/home/ada fix-home-page --home-dir -home"],
  ["/nfs/home/ada/x, /data/home/ada, /Volumes/Macintosh HD/Users/ada/x", "~/x, ~, ~/x"],
  ["src/home/index.ts, ~/home/x", "src/home/index.ts, ~/home/x"],
  ["C:/Users/Ada King/x, /c/Users/Ada\\ King/x, /mnt/c/Users/Ada King/x", "~/x, ~/x, ~/x"],
  ["/Users/ada /Users/bob/x, /Users/ada, or /Users/eve and api/x, of eve", "~ ~/x, ~, or ~/x, of [user]"],
])("home folders have no names: %j", (text, shown) => {
  expect(textForOthers(text)).toBe(shown);
});

test.each([
  ["ada@ada-laptop:~/api$ npm test", "[user]@[machine]:~/api$ npm test"],
  ["root@web-1:/srv# ls", "[user]@[machine]:/srv# ls"],
  ["ada@Adas-Mac api % ls", "[user]@[machine] api % ls"],
  ["[ada@web-1 api]$ ls", "[[user]@[machine] api]$ ls"],
  ["ada@DESKTOP-1 MINGW64 ~/api (main)\n$ ls", "[user]@[machine] MINGW64 ~/api (main)\n$ ls"],
  ["\u001b[32mada@DESKTOP-1 \u001b[35mMINGW64\u001b[0m", "\u001b[32m[user]@[machine] \u001b[35mMINGW64\u001b[0m"],
  ["┌──(ada㉿kali)-[~/x]\n└─$ ls", "┌──([user]@[machine])-[~/x]\n└─$ ls"],
  ["╭─ada@web-1 ~/api\n╰─$ ls", "╭─[user]@[machine] ~/api\n╰─$ ls"],
  [
    "\u001b[01;32mada@web-1\u001b[00m:\u001b[01;34m~/x\u001b[00m$ ls",
    "\u001b[01;32m[user]@[machine]\u001b[00m:\u001b[01;34m~/x\u001b[00m$ ls",
  ],
  [
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGk3fX5c4v4Q1o9hYH0vB8dD8yQmG5sJx2pXy0w1q2Ze ada@web-1",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGk3fX5c4v4Q1o9hYH0vB8dD8yQmG5sJx2pXy0w1q2Ze [user]@[machine]",
  ],
  ["WEB-7\\Ada, web-7 and Web-70", "[machine]\\Ada, [machine] and Web-70"],
  ["write to ada@example.org 100 % of the time", "write to ada@example.org 100 % of the time"],
  ["USER=ada HOSTNAME=web-1 DB_USER=x", "USER=[user] HOSTNAME=[machine] DB_USER=x"],
  ["drwxr-xr-x 2 ada staff /home/ada/api, and canada", "drwxr-xr-x 2 [user] staff ~/api, and canada"],
  ["on web-7 in /home/runner/work of runner", "on [machine] in ~/work of runner"],
  ['"a\\nUSER=ada\\nada@web-1:~$ ls\\nada /home/ada"', '"a\\nUSER=[user]\\n[user]@[machine]:~$ ls\\n[user] ~"'],
  ["ssh -p 22 ada@web-1.example.org uptime", "ssh -p 22 [user]@[machine] uptime"],
  ["scp api.tgz ada@10.0.0.7:/srv && ssh git@github.com", "scp api.tgz [user]@[machine]:/srv && ssh git@github.com"],
  [
    "-rw-r--r-- 1 ada ada  120 Nov 1 a.ts\ndrwxr-xr-x@  9 ada  staff   288 b\n-rw------- 1 root 1001 0 c",
    "-rw-r--r-- 1 [user] [user]  120 Nov 1 a.ts\ndrwxr-xr-x@  9 [user]  staff   288 b\n-rw------- 1 root 1001 0 c",
  ],
  ['{"o":"total 4\\n-rw-r--r-- 1 ada ada 120 a"}', '{"o":"total 4\\n-rw-r--r-- 1 [user] [user] 120 a"}'],
  [
    "uid=1000(ada) gid=1000(ada) groups=1000(ada),27(sudo),999(docker); f(ada)",
    "uid=1000([user]) gid=1000([user]) groups=1000([user]),27(sudo),999(docker); f(ada)",
  ],
  ["ls ~ada/api ~/api, HEAD~two/x, ~root/.ssh", "ls ~[user]/api ~/api, HEAD~two/x, ~root/.ssh"],
  [
    "USER PID %CPU %MEM VSZ RSS TTY STAT\nada   4242  0.0  0.1  8432  3120 pts/0 Ss 09:12 0:00 bash\nroot  1  0.0  0.2 167000 11000 ? Ss",
    "USER PID %CPU %MEM VSZ RSS TTY STAT\n[user]   4242  0.0  0.1  8432  3120 pts/0 Ss 09:12 0:00 bash\nroot  1  0.0  0.2 167000 11000 ? Ss",
  ],
  [
    "UID PID PPID C STIME TTY\nada  4242  4240  0 09:12 pts/0 00:00:00 -bash\npostgres  77  1  0 Nov28 ? 00:00:01 postgres",
    "UID PID PPID C STIME TTY\n[user]  4242  4240  0 09:12 pts/0 00:00:00 -bash\npostgres  77  1  0 Nov28 ? 00:00:01 postgres",
  ],
  ["ada      pts/0        2026-11-28 09:12 (10.0.0.2)", "[user]      pts/0        2026-11-28 09:12 (10.0.0.2)"],
  ['{"o":"ada      tty7         :0   09:12"}', '{"o":"[user]      tty7         :0   09:12"}'],
  [
    "reboot   system boot  6.1\nada      pts/1   10.0.0.2  Sat Nov 28 09:12   still logged in",
    "reboot   system boot  6.1\n[user]      pts/1   10.0.0.2  Sat Nov 28 09:12   still logged in",
  ],
  [
    "  PID USER PR NI VIRT RES\n 4242 ada       20   0   22.1g 310404  41212 R  12.5",
    "  PID USER PR NI VIRT RES\n 4242 [user]       20   0   22.1g 310404  41212 R  12.5",
  ],
  ["$ whoami\nada\n$ date", "$ whoami\n[user]\n$ date"],
  [
    "write to ada@example.org: now, or git@github.com:ada/api.git",
    "write to ada@example.org: now, or git@github.com:ada/api.git",
  ],
])("names of users and machines are hidden: %j", (text, shown) => {
  expect(textForOthers(text, { machine: "web-7", owners: [] })).toBe(shown);
});

describe("the owner of a home folder that the session's fields name", () => {
  const names = readHiddenNames({
    machine: null,
    project: "api",
    metadata: { cwd: "/home/lovelace/api", other: ["/Users/ada/x"] },
  });
  test.each([
    ["lovelace", "[user]"],
    ["lovelace\n", "[user]\n"],
    ['{"stdout":"lovelace\\n"}', '{"stdout":"[user]\\n"}'],
    ["lovelace : lovelace sudo", "[user] : lovelace sudo"],
    ["lovelac+  4242  0.0", "[user]  4242  0.0"],
    ["ada  11  console", "[user]  11  console"],
    ["4242 lovelace", "4242 [user]"],
    ["lovelace wrote it, and Math.lovelace is no name", "lovelace wrote it, and Math.lovelace is no name"],
    ["lovelaces\ncanada", "lovelaces\ncanada"],
  ])("is hidden in outputs: %j", (text, shown) => {
    expect(textForOthers(text, names)).toBe(shown);
  });

  test("is hidden in a message that names no folder", () => {
    const shown = forOthers({ content: "ada\n", metadata: { result: { stdout: "lovelace" } } }, makeHider(names));
    expect([shown.content, shown.metadata]).toEqual(["[user]\n", { result: { stdout: "[user]" } }]);
  });
});

test("a text in pieces is masked as it is in one, wherever a piece ends", { timeout: 60_000 }, async () => {
  const key = ["ghp", "_", "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY1zA2"].join("");
  const pem = `-----BEGIN PRIVATE KEY-----\n${"aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY1zA2pQ4rS6tU8vW0xY1zA2aB3dE5fG7h\n".repeat(200)}-----END PRIVATE KEY-----`;
  const text = Array.from({ length: 400 }, (_, n) => `${"x ".repeat(n)}\n${n % 9 ? `${n} ${key}` : pem}`).join(" ");
  for (const size of [9001, 70_001, 1_000_000]) {
    const pieces = async function* () {
      for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size);
    };
    let masked = "";
    for await (const piece of maskPieces(pieces(), maskForOthers)) masked += piece;
    expect(masked === maskForOthers(text), `pieces of ${size}`).toBe(true);
  }
});

test("a message for others has no secret in its content, its tool's arguments, or its result", () => {
  const key = ["ghp", "_", "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY1zA2"].join("");
  const message = {
    position: 3,
    content: `the token is ${key}`,
    metadata: { tool: { name: "Bash", input: { command: `curl -H "Authorization: ${key}" /home/ada/x` } } },
  };
  const shown = forOthers(message);
  expect(JSON.stringify(shown)).not.toContain(key);
  expect(JSON.stringify(shown)).toContain("[redacted:");
  expect(JSON.stringify(shown)).not.toContain("/home");
  expect(shown.position).toBe(3);
  expect(message.content).toContain(key);
});

test("home folders are counted", () => {
  expect(countHomes("/home/a/x /Users/b/y /home/ -home-a-x")).toBe(3);
});

test.each([
  [{ from: null, to: null }, true],
  [{ from: 5, to: 5 }, true],
  [{ from: 6, to: null }, false],
  [{ from: null, to: 4 }, false],
])("position 5 within %j: %s", (range, expected) => {
  expect(isWithin(range, 5)).toBe(expected);
});

test("a turn is shared alone by any of its positions, the last one without what is added later", () => {
  const turn = { title: "", at: null, tools: 0, errors: 0 };
  const turns = [2, 10, 20].map((position) => ({ ...turn, position }));
  const outline = { turns, span: { first: 0, last: 29 } };
  const shared = (query: Record<string, string>) => sharingIn(outline, query);
  expect(shared({ turn: "10" })).toEqual({ from: 10, to: 19, masked: true });
  expect(shared({ turn: "15", plain: "1" })).toEqual({ from: 10, to: 19, masked: false });
  expect(shared({ turn: "20" })).toEqual({ from: 20, to: 29, masked: true });
  expect(shared({ turn: "x" })).toEqual({ from: null, to: null, masked: true });
  expect(sharingIn({ turns: [], span: outline.span }, { turn: "5" })).toEqual({ from: 5, to: 5, masked: true });
  expect(shared({ from: "9", to: "4" })).toEqual({ from: 4, to: 9, masked: true });
});
