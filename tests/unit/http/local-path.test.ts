import { describe, expect, test } from "vitest";
import { env } from "#lib/core/env";
import { localPath } from "#lib/http/address";

describe("a path to return to", () => {
  test.each([
    "/",
    "/traces",
    "/device?code=WDJB-MJHT",
    "/traces?q=https://example.org//x&from=2026-01-01#m7",
    "/traces/0b9ddc6e-3b0f-4c86-9a4c-4e2d1f2a7c55?at=8",
  ])("%j is this site's", (path) => {
    expect(localPath(path)).toBe(path);
  });

  test("is what a browser makes of it", () => {
    expect(localPath("/traces/../uploads/./?q=a b")).toBe("/uploads/?q=a%20b");
    expect(localPath("/traces?q=src\\lib")).toBe("/traces?q=src%5Clib");
    expect(localPath("/traces?q=日")).toBe("/traces?q=%E6%97%A5");
  });

  test.each([
    "//evil.example",
    "/\\evil.example",
    "/..//evil.example",
    "/.//evil.example",
    "/%2e%2e//evil.example",
    "/%2E%2e/%2e//evil.example",
    "/traces/..//evil.example",
    "/traces/..\\\\evil.example",
    "/%2f/evil.example",
    "/%5C%5Cevil.example",
    "/\t/evil.example",
    "/a//b",
    "https://evil.example",
    "javascript:alert(1)",
    "evil",
    "/a\nb",
    "/a\\b",
    "",
    null,
    undefined,
  ])("%j leads to the start", (path) => {
    expect(localPath(path)).toBe("/");
  });
});

/** A generator of numbers that are the same in every run. */
function numbers(seed: number) {
  let state = seed;
  return (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

test("a thousand made-up paths stay on this site, whatever they are joined with", () => {
  const dots = [".", "..", "%2e", "%2E%2e"];
  const slashes = ["/", "//", "\\", "%2f", "%5c"];
  const odd = ["\t", "\n", "\u00a0", "\u3002", "\ud800", "%00", "%", "[", "?", "#", "@", ":", ";"];
  const words = ["a", "traces", "evil.example", "user:word@evil.example", "https:"];
  const all = [...dots, ...slashes, ...odd, ...words];
  const next = numbers(14);
  const base = new URL(env().BASE_URL);
  let kept = 0;
  for (let n = 0; n < 1000; n += 1) {
    const made = Array.from({ length: 1 + next(9) }, () => all[next(all.length)]).join("");
    const path = localPath(next(4) === 0 ? made : `/${made}`);
    kept += path === "/" ? 0 : 1;
    const found = new URL(path, base);
    expect([path, found.origin, found.username]).toEqual([path, base.origin, ""]);
    expect(path).toMatch(/^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/);
    expect(found.pathname).not.toMatch(/\/\/|\\|%2f|%5c|\/(?:\.|%2e){1,2}(?:\/|$)/i);
    expect(localPath(path)).toBe(path);
  }
  // Enough of them are paths at all.
  expect(kept).toBeGreaterThan(100);
});
