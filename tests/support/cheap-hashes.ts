// Loaded before the files of `jobs`, `api` and `e2e`, and into the servers that they start: a password's hash takes
// 0.2 s of a core, and these tests make hundreds. Stored hashes still record the full cost;
// tests/unit/auth/hashing.test.ts and the servers of the long tests make real ones.
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
