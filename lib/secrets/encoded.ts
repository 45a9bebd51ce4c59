import { isCredible, knownPasswords } from "#lib/secrets/credible";
import type { Detector } from "#lib/secrets/shape";

/** How URLs with a password begin in Base64: `postgres://`, `postgresql://`, `mysql://`, `mongodb://` and its like, `redis://`, `amqp://`. */
const heads = ["cG9zdGdyZXM6Ly9", "cG9zdGdyZXNxbDovL", "bXlzcWw6Ly9", "bW9uZ29kYjovL", "bW9uZ29kYitzcnY6Ly9"].concat([
  "cmVkaXM6Ly",
  "cmVkaXNzOi8v",
  "YW1xcDovL",
  "YW1xcHM6Ly",
]);

/** A URL in Base64, as a Secret of Kubernetes has it, that has a password. */
const encodedUrl: Detector = {
  words: heads.map((head) => head.toLowerCase()),
  find(text, start, end) {
    if (!heads.includes(text.slice(start, end))) return undefined;
    const [encoded = ""] = /^[A-Za-z\d+/]{16,800}={0,2}/.exec(text.slice(start, start + 820)) ?? [];
    const url = Buffer.from(encoded, "base64").toString("latin1");
    const [, password = ""] = /^[\w+]{3,20}:\/\/[^\s:/@]{0,80}:([^\s/@]{4,200})@/.exec(url) ?? [];
    if (password === "" || knownPasswords.test(password) || !isCredible(password.padEnd(8, password))) return undefined;
    return { kind: "url-password", start, end: start + encoded.length };
  },
};

/** What is a secret only once it is decoded. */
export const encoded: readonly Detector[] = [encodedUrl];
