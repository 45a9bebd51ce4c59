// Loaded before the files of `jobs`, `api` and `e2e`, and into the servers that they start: a password's hash takes a fifth of a
// second of a core, and these make hundreds. The work that stored hashes tell is unchanged; tests/unit/hashing.test.ts and the
// servers of the long tests make them at their full cost.
import crypto, { type ScryptOptions } from "node:crypto";
import { syncBuiltinESMExports } from "node:module";

const globals = globalThis as typeof globalThis & { spoorHashesAreCheap?: true };

if (!globals.spoorHashesAreCheap) {
  globals.spoorHashesAreCheap = true;
  const derive = crypto.scrypt as (...words: unknown[]) => void;
  const cheaply = (password: unknown, salt: unknown, bytes: unknown, options: ScryptOptions, done: unknown) =>
    derive(password, salt, bytes, { ...options, N: 2 ** 6 }, done);
  crypto.scrypt = cheaply as typeof crypto.scrypt;
  syncBuiltinESMExports();
}
