// Where programs, protocols and people who tell somebody how to sign in put a password.

import { afterWord } from "#lib/secrets/after-word";
import { isCredible, isDense, isPair } from "#lib/secrets/credible";
import { isPassword } from "#lib/secrets/password";
import type { Detector } from "#lib/secrets/shape";

const isAny = (value: string): boolean => isCredible(value) || isPassword(value);

/** Commands, each with its password behind other arguments. */
const ofCommands: readonly Detector[] = [
  afterWord(
    "vault",
    ["vault login ", "vault token "],
    /^(?:[a-z-]{1,20} ){0,3}["']?([bs]\.[A-Za-z\d]{24})(?!\w)/,
    isDense,
  ),
  afterWord("assignment", ["openssl enc "], /^[^\n|;]{0,160}?\s-k\s\\{0,7}["']?([^\s"'\\]{6,128})/, isPassword),
  afterWord(
    "assignment",
    ["smbclient ", "rpcclient "],
    /^[^\n|;]{0,120}?-U\s?\\{0,7}["']?[\w.@/-]{1,64}%([^\s"'\\]{6,64})/,
    isPassword,
  ),
  afterWord("assignment", ["net use "], /^[^\n]{0,100}?\/user:\S{1,64}\s\\{0,7}["']?([^\s"'*\\]{6,64})/, isPassword),
  afterWord(
    "assignment",
    ["add_user ", "change_password "],
    /^[\w.@-]{1,64}\s\\{0,7}["']?([^\s"'\\]{6,128})/,
    isPassword,
  ),
  afterWord(
    "assignment",
    ["add-generic-password ", "add-internet-password "],
    /^[^\n|;]{0,200}?-w\s\\{0,7}["']?([^\s"'\\]{6,128})/,
    isPassword,
  ),
  afterWord("assignment", ["influx "], /^[^\n|;]{0,120}?\s(?:-t|--token)[ =]\\{0,7}["']?([\w-]{86}==)/, isDense),
  afterWord(
    "assignment",
    ["put-parameter "],
    /^(?=[\s\S]{0,380}SecureString)[\s\S]{0,300}?--value[ =]\\{0,7}["']?([^\s"'\\]{6,256})/,
    isAny,
  ),
  afterWord("assignment", ['send "', 'send -- "', 'send \\"'], /^([^\s"\\]{6,64})\\+r/, isPassword),
];

/** What is typed to a server, and what one answers. */
const ofProtocols: readonly Detector[] = [
  afterWord(
    "assignment",
    ["> auth ", "redis-cli auth "],
    /^(?:[\w-]{1,32} )?\\{0,7}["']?([^\s"'\\]{6,128})/,
    isPassword,
  ),
  afterWord(
    "assignment",
    ["identified with "],
    /^\S{3,40} (?:by|as) \\{0,7}['"]([^'"\n\\]{6,128})\\{0,7}['"]/i,
    isPassword,
  ),
  afterWord(
    "authorization",
    ['"encoded":', '"encoded\\":'],
    /^\s?\\{0,7}"([A-Za-z\d+/]{40,120}={0,2})\\{0,7}"/,
    isPair,
  ),
];

/** A name and a password with a sign between them, where the words before say that one signs in with them. */
const userAnd = afterWord(
  "assignment",
  [
    "credentials",
    "creds",
    "login with ",
    "log in with ",
    "login as ",
    "log in as ",
    "sign in with ",
    "zugangsdaten",
    "identifiants",
  ],
  /^(?:[^\n:/]{0,40}:\s{0,3})?[`*"']{0,3}[\w.@-]{2,40}[`*"']{0,3}(?: \/ |\/|:)[`*"']{0,3}([^\s`*"'/\\]{6,64})/,
  (value) => isPassword(value.replace(/[.,;)]+$/, "")),
);

export const programs: readonly Detector[] = [...ofCommands, ...ofProtocols, userAnd];
