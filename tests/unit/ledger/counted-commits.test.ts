import { expect, test } from "vitest";
import { countedCommits } from "#lib/ledger/evidence/copies";
import type { SharedCommit } from "#lib/ledger/sql/copies";
import { makeRandom } from "../../support/random.ts";

type Commit = Pick<SharedCommit, "key" | "subject">;
const commit = (key: string, subject: string | null = null): Commit => ({ key, subject });

test("a commit counts once: the first of its rows, also under an abbreviated hash, unless their subjects differ", () => {
  const random = makeRandom(1);
  const rows = Array.from({ length: 400 }, () => {
    const hash = Array.from({ length: 12 }, () => (random() < 0.5 ? "a" : "b")).join("");
    return commit(hash.slice(0, 7 + Math.floor(random() * 6)), random() < 0.4 ? null : `subject ${random() < 0.5}`);
  });
  const isSame = (one: Commit, other: Commit) =>
    (one.key.startsWith(other.key) || other.key.startsWith(one.key)) &&
    (one.subject === null || other.subject === null || one.subject === other.subject);
  const firsts: Commit[] = [];
  for (const row of rows) if (!firsts.some((first) => isSame(first, row))) firsts.push(row);
  expect(firsts.length).toBeGreaterThan(50);
  expect([...countedCommits(rows)]).toEqual(firsts);
});
