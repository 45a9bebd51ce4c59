import { expect, test } from "vitest";
import { auditActions } from "#lib/auth/audit";
import { sourceFiles } from "../../support/boundaries.ts";

test("every action of the trail is recorded somewhere", async () => {
  const files = (await sourceFiles()).filter(({ path }) => path !== "lib/auth/audit.ts");
  const text = files.map((file) => file.text).join("\n");
  // A decision about a device login is `login_${decision}`.
  const composed = ["login_approved", "login_denied"];
  const alone = ["reauthentication_failed"]; // recorded by a function of lib/auth/audit.ts itself
  expect(text).toContain("recordFailedProof(");
  const expected = Object.keys(auditActions).filter((action) => ![...composed, ...alone].includes(action));
  expect(expected.filter((action) => !text.includes(`"${action}"`))).toEqual([]);
});
