import { describe, expect, test } from "vitest";
import { chooseShortTitle, getShownTitle } from "#lib/transcript/titles/choose-title";
import { deriveTitle } from "#lib/transcript/titles/derive-title";
import { plainTitle, shortTitle } from "#lib/transcript/titles/short-title";

describe("a title that is shown", () => {
  test.each([
    ["fix the **flaky** test in `retry.ts`", "Fix the flaky test in retry.ts"],
    ["## Read the [guide](https://x.org/a_(b)) first", "Read the guide first"],
    ["- [ ] see [the guide](https://x.org/a) and ~~wait~~ *go*", "See the guide and wait go"],
    ["rename __init__.py and snake_case_name", "Rename __init__.py and snake_case_name"],
    ["why is 2 * 3 * 4 slow?", "Why is 2 * 3 * 4 slow?"],
    ["⚠️ Missing flag", "Missing flag"],
  ])("is plain: %s", (given, shown) => {
    expect(shortTitle(given)).toBe(shown);
  });

  test.each([
    ["mend the timer.", "Mend the timer"],
    ["étendre le délai", "Étendre le délai"],
    ["`parse` fails on dates", "parse fails on dates"],
    ["parseDate fails", "parseDate fails"],
    ["src/a.ts has a wrong import", "src/a.ts has a wrong import"],
    ["npm ci fails", "npm ci fails"],
    ["/deploy staging", "/deploy staging"],
    ["把日志改成另一种格式", "把日志改成另一种格式"],
    ["ნახე კოდი", "ნახე კოდი"],
    ["feat(api): add a filter by tag", "Add a filter by tag"],
    ["fix: crash at start", "Fix crash at start"],
    ["feat: add DeepSeek provider (#218): finish line 33", "Add DeepSeek provider (#218): finish line 33"],
  ])("has a capital only where a word begins it: %s", (given, shown) => {
    expect(shortTitle(given)).toBe(shown);
  });

  test.each([
    ["Hi, can you please look at the timer?", "Look at the timer"],
    ["OK, let's take a look at how the preview works", "Look at how the preview works"],
    ["I would like you to write a test, thanks!", "Write a test"],
    ["Can you?", "Can you?"],
    ["Please", "Please"],
    ["PR review 157: Let's address: 1. Bug: the lookup is repeated", "PR review 157: Bug: the lookup is repeated"],
    ["read @docs/a.md and @docs/b/c.md, then make a plan for the timer", "Make a plan for the timer"],
    ["read docs/a.md and fix", "Read docs/a.md and fix"],
    ["Merge conflict (timer-queue): please keep both sides", "Merge conflict (timer-queue): keep both sides"],
    ["Create a new branch and switch to it. The focus is an index of timers.", "The focus is an index of timers"],
    ["Create a new git branch so we can kick off a new feature: Queue viewer", "Queue viewer"],
    ["Create a new branch.", "Create a new branch"],
    ["Plan: readings need more than 32 metres", "Plan: readings need more than 32 metres"],
    ["Fix the timer. It stops at midnight.", "Fix the timer. It stops at midnight"],
    ["Analyze the whole project and the files in @/docs the bot ignores commands", "The bot ignores commands"],
    ["Code review: address 12, 13, 57", "Code review: address 12, 13, 57"],
  ])("begins with what is wanted: %s", (given, shown) => {
    expect(shortTitle(given)).toBe(shown);
  });

  test.each([
    [
      "The uploader keeps one timer for each request. They pile up, and I would like one queue for them.",
      "The uploader keeps one timer for each request",
    ],
    ["I've got a merge conflict here. Explain each side of it to me and suggest what we should do.", undefined],
    [
      "Right now the command supports an optional third argument, the target agent for what is resumed.",
      "Right now the command supports an optional third argument",
    ],
    [
      "When the answer is empty, we should fall back to the same default handling as the other tools",
      "When the answer is empty, we should fall back to the same default…",
    ],
    [
      'We don\'t need the message "Statistics collected: see the file" in the output of normal runs',
      'We don\'t need the message "Statistics collected: see the file"…',
    ],
    [
      "Look at commit e45daa39e8ae5bcdc37458e6e5d20df68764bb47 and understand what it did",
      "Look at commit e45daa39 and understand what it did",
    ],
    [
      "Review the contribution acme-corporation/some-shop-service#237 in a separate working tree",
      "Review the contribution some-shop-service#237 in a separate working…",
    ],
    ["修复".repeat(40), `${"修复".repeat(17)}…`],
    [
      "Support Factory Droid as provider in the command line (#150): the test inversions have been done",
      "Support Factory Droid… (#150): the test inversions have been done",
    ],
  ])("ends with a sentence, a clause or a word: %s", (given, shown) => {
    expect(shortTitle(given)).toBe(shown ?? "I've got a merge conflict here. Explain each side of it to me");
  });

  test("has at most 70 characters, and in bounded time, whatever is given", () => {
    const units = [
      "*",
      "_",
      "`",
      "~",
      "[",
      "(",
      '"',
      "a ",
      "- ",
      "#",
      "ok, ",
      "please ",
      "a, ",
      ". ",
      "/a",
      "👍",
      "好",
      "\\",
      "<a ",
      "\t",
      ".",
      "-",
      "a.",
      "a/b ",
      "ok. ",
    ];
    const hostile = units.flatMap((unit) => [
      unit.repeat(1_000_000 / unit.length),
      `${"a".repeat(50)} ${unit.repeat(1_000_000 / unit.length)}b`,
      `read ${unit.repeat(30)}x ${unit.repeat(30)}x ${"word ".repeat(200_000)}`,
    ]);
    const startedAt = performance.now();
    for (const text of hostile) {
      expect([...shortTitle(text)].length).toBeLessThanOrEqual(70);
      const { title = "" } = deriveTitle([{ role: "user", text }]) ?? {};
      expect([...shortTitle(title)].length).toBeLessThanOrEqual(70);
    }
    expect(performance.now() - startedAt).toBeLessThan(hostile.length * 250);
  });

  test("is never empty", () => {
    for (const text of ["...", "**", "👍", "-", "#", "a", "ok, ", "(", "feat: "]) expect(shortTitle(text)).not.toBe("");
    expect(plainTitle("👍")).toBe("👍");
  });
});

describe("of several titles", () => {
  const none = { customTitle: null, title: null, derivedTitle: null, shortTitle: null };

  test.each([
    [
      { title: "Timer of the uploader", derivedTitle: "mend it" },
      ["Mend the timer of uploads"],
      "Timer of the uploader",
    ],
    [{ title: null, derivedTitle: "address 21 and 26" }, ["Mend the timer of uploads"], "Mend the timer of uploads"],
    [{ title: null, derivedTitle: "mend the timer" }, ["WIP: more of the same"], "Mend the timer"],
    [{ title: null, derivedTitle: "mend the timer" }, ["Mend timer"], "Mend the timer"],
    [{ title: null, derivedTitle: "mend the timer" }, ["Mend the clock", "Mend the other clock"], "Mend the timer"],
    [{ title: "/clear", derivedTitle: "mend the timer" }, [], "Mend the timer"],
    [{ title: "hi", derivedTitle: "mend the timer" }, [], "Mend the timer"],
    [{ title: "build", derivedTitle: "mend the timer" }, [], "Build"],
    [{ title: "hi", derivedTitle: null }, [], "Hi"],
    [{ title: null, derivedTitle: null }, [], null],
  ])("%j and %j: %j", (titles, subjects, shown) => {
    expect(chooseShortTitle(titles, subjects)).toBe(shown);
  });

  test("the person's is shown as it was typed, and another one before the ledger has seen it", () => {
    expect(getShownTitle({ ...none, customTitle: "my timer.", shortTitle: "Timer" })).toBe("my timer.");
    expect(getShownTitle({ ...none, title: "mend it", shortTitle: "Mend the timer" })).toBe("Mend the timer");
    expect(getShownTitle({ ...none, title: "mend **it**" })).toBe("Mend it");
    expect(getShownTitle(none)).toBe(null);
  });
});
