// What a command prints alone on a line: the command before it says what it is.

import { afterWord, isKey } from "#lib/secrets/after-word";
import { isCredible, isDense, isRandom } from "#lib/secrets/credible";
import { isPassword } from "#lib/secrets/password";
import type { Detector } from "#lib/secrets/shape";

/** The rest of a command and its line's end, also in JSON. */
const line = String.raw`[^\n|]{0,120}?(?:\n|\\{1,3}n){1,3}(?:\s|\d{1,5}[\t→])*`;
const next = (value: string, command = "") => new RegExp(String.raw`^${command}${line}(${value})(?![^\s\\"'])`, "i");
const isAny = (value: string): boolean => isKey(value) || isCredible(value) || isPassword(value);

export const printed: readonly Detector[] = [
  afterWord("private-key", ["wg genkey", "wg genpsk"], next(String.raw`[A-Za-z\d+/]{43}=`), isRandom),
  afterWord("assignment", ["master.key", "credentials/production.key"], next(String.raw`[\da-f]{32}`), isRandom),
  afterWord(
    "assignment",
    ["proceed to installation:", "initialadminpassword"],
    next(String.raw`[\da-f]{32}`),
    isRandom,
  ),
  afterWord(
    "assignment",
    ["get-login-password", "print-access-token", "auth token"],
    next(String.raw`[\w.+/=-]{60,4000}`),
    isDense,
    4400,
  ),
  afterWord(
    "assignment",
    ["output -raw ", "printenv ", "/run/secrets/"],
    next(String.raw`[^\s"'\\]{8,256}`, String.raw`(?=[\w.-]{0,60}(?:pass|pwd|secret|token|key))`),
    isAny,
  ),
  afterWord(
    "assignment",
    ["secret-tool lookup ", "pass show ", "op read ", "find-generic-password "],
    next(String.raw`[^\s"'\\]{8,256}`),
    isAny,
  ),
  // What is made so is a secret of something, soon.
  afterWord(
    "assignment",
    ["openssl rand -base64 ", "openssl rand -hex "],
    next(String.raw`[A-Za-z\d+/]{24,128}={0,2}`),
    isKey,
  ),
  afterWord("assignment", ["| base64 -d", "| base64 --decode"], next(String.raw`[^\s"'\\]{12,256}`), (value) =>
    isDense(value),
  ),
];
