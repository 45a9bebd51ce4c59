import { generateKeyPairSync } from "node:crypto";
import { expect, test } from "vitest";
import { cutExcerpt } from "#lib/mcp/talk";

const token =
  "sk-ant-api03-Zk3vQ9mW2xR7tY4uB8nC1dF6gH0jL5pSaXeVrTqMwKoIiUyNbEzGhJcDfPlAsQ7R2t5Y8u1I4o7P0aS3dF6gH9jKlQ-wErTyAA";
const { privateKey } = generateKeyPairSync("rsa", {
  modulusLength: 4096,
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
  publicKeyEncoding: { type: "spki", format: "pem" },
});

const filler = "lorem ipsum dolor. ".repeat(20_000);

test.each([
  ["a token", token],
  ["a private key", privateKey],
])("of a long message, which is searched around the words, no half of %s is shown", (_, secret) => {
  // The text around "needle" begins in the middle of the secret.
  const between = filler.slice(0, 100_000 - secret.length / 2 - 12);
  const content = `${filler.slice(0, 50_000)}${secret} alpha beta ${between}needle ${filler}`;
  const shown = cutExcerpt({ content }, ["alpha", "beta", "needle"]);
  const end = secret.trim().slice(-45, -30);
  expect(content).toContain(end);
  expect(shown).not.toContain(end);
});

test.each([
  ["begins", `needle ${filler}`],
  ["ends", `${filler} needle`],
  ["has in its middle", `${filler} needle ${filler}`],
])("what a long message %s with is shown", (_, content) => {
  expect(cutExcerpt({ content }, ["needle"])).toContain("needle");
});
