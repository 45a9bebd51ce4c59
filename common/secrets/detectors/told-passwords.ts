// Finds passwords that people type into forms, give an agent, or have in tables without lines.
import { isCredible, isDense, isPassword, mayBePassword } from "#common/secrets/credible";
import { type Detector, findBefore, findPasswordAfter, type SecretPlace } from "#common/secrets/detectors/detector";

const numberedName = /oauth\d|sha-?\d|md\d|base\d|utf-?\d|http\d|[a-z]v\d+$|argon|scrypt|test|demo|mock|example/i;
const removePunctuation = (value: string): string => value.replace(/[.,;:!?)\]}"'`”“»]+$/, "");

function isToldPassword(value: string): boolean {
  const plain = removePunctuation(value);
  const isMixed = /[a-z]/.test(plain) && /[A-Z]|[!#$%^&*+=?@]/.test(plain) && /\d[^\d.,:;)]/.test(plain);
  return isMixed && !/[(){}[\]<>|\\/]|::/.test(plain) && !numberedName.test(plain) && isCredible(plain);
}

const openQuote = String.raw`\\{0,7}["'\x60“”„«‘]{0,3}`;
const toldValue = String.raw`([^\s"'\x60“”„«»\\]{8,128}[^\s"'\x60“”„«».,;:!?)\\])`;

const saidPasswords: readonly Detector[] = [
  findPasswordAfter(
    "password |passwort |passphrase |passwd |pwd |kennwort |wachtwoord |contraseña |senha |ароль |hasło |heslo |mot de passe ",
    new RegExp(
      `^(?:(?:at|in|on|für|im|am) (?:[\\w-]{1,20} ){1,3}(?:is|ist) |(?:to|from|as|auf|en|por|je|[-–—]) )?${openQuote}${toldValue}`,
    ),
    isToldPassword,
    { chars: 220 },
  ),
  findPasswordAfter(
    "api key |key is |token is |i got is |access token ",
    new RegExp(`^(?:is )?${openQuote}([\\w+/=-]{20,256})(?![\\w+/=.-])`),
    (value) => isDense(value) && !/^[a-z]{2,8}_0?1/.test(value) && !value.includes("/"),
    { chars: 300 },
  ),
  findBefore(
    "assignment",
    "as the password|as password|as my password|as its password|als passwort|for the password|for password|(password|(root password|(admin password",
    /(?:^|\s)["'`“„]?([^\s"'`“”„\\]{8,128})["'`”“]?\s$/,
    isToldPassword,
  ),
];

const namesField = String.raw`(?:pass(?:word|wort|code|phrase|wd)|contraseña|mot de passe|senha|\bpwd)`;
const jsonText = String.raw`\\{0,7}"[^"\\\n]{0,120}\\{0,7}"`;

/** Tests of pages and agents' browsers type passwords into fields. */
const typedPasswords: readonly Detector[] = [
  findPasswordAfter(
    ".fill(|.type(|.send_keys(|.sendkeys(|.presssequentially(|.setvalue(|.inserttext(",
    /^\s?\\{0,7}["'`]([^"'`\n\\]{6,128})\\{0,7}["'`]/,
    isPassword,
    { ahead: new RegExp(`${namesField}[^\\n;]{0,60}$`, "i") },
  ),
  findPasswordAfter(
    ".type(|.fill(",
    new RegExp(`^[^\\n;]{0,100}?${namesField}[^\\n;]{0,40}?,\\s?\\\\{0,7}["']([^"'\\n\\\\]{6,128})\\\\{0,7}["']`, "i"),
    isPassword,
  ),
  findPasswordAfter(
    '"element":|"element\\":|"element\\\\\\":',
    new RegExp(
      `^\\s?\\\\{0,7}"[^"\\\\\\n]{0,60}?${namesField}[^"\\\\\\n]{0,40}\\\\{0,7}"(?:,\\s{0,20}\\\\{0,7}"\\w{1,20}\\\\{0,7}":\\s?(?:${jsonText}|true|false|\\d{1,9})){0,3}?,\\s{0,20}\\\\{0,7}"(?:text|value)\\\\{0,7}":\\s?\\\\{0,7}"([^\\s"\\\\]{6,128})\\\\{0,7}"`,
      "i",
    ),
    isPassword,
    { mayBe: (text, end) => /pass|pwd|senha|contraseña/i.test(text.slice(end, end + 70)) },
  ),
];

const answeredPassword = findPasswordAfter(
  "password?|passwort?|passphrase?",
  /^\\{0,7}"(?::|,\s{0,4}\\{0,7}"answer\\{0,7}":)\s?\\{0,7}"([^\s"\\]{6,128})\\{0,7}"/,
);

const nextArgument = String.raw`^(?:\\{0,7}",\s{0,20}\\{0,7}")`;
const listedArguments: readonly Detector[] = [
  findPasswordAfter(
    '"-p|"-a\\|"-a"|"-w\\|"-w"',
    new RegExp(`${nextArgument}?([^\\s"'\\\\]{6,256})\\\\{0,7}"`),
    isPassword,
    {
      chars: 300,
      ahead:
        /"(?:sshpass|mysql\w*|mariadb|redis-cli|mongo\w*|ldap\w+|sqlcmd|(?:docker|podman|helm|oras|skopeo|az)\\{0,7}"[^\n\]]*"login)\\{0,7}"[^\n\]]*$/,
    },
  ),
  findPasswordAfter(
    '"-u|"--user',
    new RegExp(`${nextArgument}(?!\\$)[^\\s:,"'\\\\]{1,128}:([^\\s"'\\\\]{4,256})\\\\{0,7}"`),
    isPassword,
    { ahead: /\bcurl\\{0,7}"[^\n\]]*$/ },
  ),
];

const namesPassword = /^(?:[\w ]{0,20}[ _-])?(?:password|passwd|passwort|passphrase|kennwort|secret access key)$/i;
const [maxHeaderChars, maxRowChars] = [200, 4000];
const row = /(?:[^\n\\]|\\(?!\\{0,2}n)){0,4000}/y;
const rowEnd = /\n|\\{1,3}n/y;
const lineNumber = /^\s{0,8}\d{1,6}[→\t]/;

/** Matches up to the start of the last line, or of the text in JSON. */
const lineBegin = /^[\s\S]*(?:\n|\\{1,3}n|":\s?")/;

const unquote = (cell: string): string => /^\s*(?:\\{0,7}")?(.*?)(?:\\{0,7}")?\s*$/.exec(cell)?.[1] ?? "";

function splitRow(line: string, separator: string): { cell: string; at: number }[] {
  const cells: { cell: string; at: number }[] = [];
  let [from, isQuoted] = [lineNumber.exec(line)?.[0].length ?? 0, false];
  for (let at = from; at <= line.length; at += 1) {
    if (line[at] === '"') isQuoted = !isQuoted;
    if (at < line.length && (line[at] !== separator || isQuoted)) continue;
    cells.push({ cell: line.slice(from, at), at: from });
    from = at + 1;
  }
  return cells;
}

function readRow(text: string, from: number): { line: string; next: number } {
  row.lastIndex = from;
  const line = row.exec(text)?.[0] ?? "";
  rowEnd.lastIndex = from + line.length;
  const [end = ""] = rowEnd.exec(text) ?? [];
  return { line, next: end === "" ? -1 : from + line.length + end.length };
}

/** Exports of password managers name a password in their header. */
const separatedColumn: Detector = {
  words: ["password", "passwd", "passwort", "passphrase", "kennwort", "access key"].flatMap((name) =>
    [",", ";", "\t", "\\t"].flatMap((sign) => [
      ...["", '"', '\\"'].flatMap((quote) => [name + quote + sign, sign + quote + name]),
    ]),
  ),
  find(text, start, end) {
    const ahead = text.slice(Math.max(0, start - maxHeaderChars), start);
    const begin = start - ahead.length + (lineBegin.exec(ahead)?.[0].length ?? 0);
    if (start - begin >= maxHeaderChars) return undefined;
    const { line, next } = readRow(text, begin);
    const separator = [",", ";", "\t"].find((one) => text.slice(start, end).includes(one)) ?? ",";
    const header = splitRow(line, separator).map(({ cell }) => unquote(cell));
    const columns = header.flatMap((name, index) => (namesPassword.test(name) ? [index] : []));
    const isHeader = header.filter(Boolean).length > 1 && header.every((name) => /^[\w .-]{0,40}$/.test(name));
    if (!isHeader || columns.length === 0) return undefined;
    const places: SecretPlace[] = [];
    for (let at = next; at >= 0; ) {
      const one = readRow(text, at);
      const cells = one.line.length < maxRowChars ? splitRow(one.line, separator) : [];
      // Rows after another header belong to that table.
      if (
        cells.length < header.length ||
        columns.some((index) => namesPassword.test(unquote(cells[index]?.cell ?? "")))
      )
        break;
      for (const index of columns) {
        const { cell, at: cellAt } = cells[index] as { cell: string; at: number };
        const value = unquote(cell);
        const from = at + cellAt + cell.indexOf(value);
        if (mayBePassword(value, true)) places.push({ kind: "assignment", start: from, end: from + value.length });
      }
      at = one.next;
    }
    return places.length > 0 ? places : undefined;
  },
};

const insertedColumns = /^[^\s(]{1,80}\s{0,4}\(([^()]{1,300})\)\s{0,20}VALUES\s{0,20}/i;
const insertedRow = /\s{0,12},?\s{0,12}\(((?:'(?:[^'\n]|'')*'|[^()'\n])*)\)/y;
const maxInsertChars = 2000;

const insertedPassword: Detector = {
  words: ["insert into "],
  find(text, _start, end) {
    const rest = text.slice(end, end + maxInsertChars);
    const [head = "", names = ""] = insertedColumns.exec(rest) ?? [];
    const index = names.split(",").findIndex((name) => namesPassword.test(name.replace(/[\s"`\\[\]]/g, "")));
    if (index < 0) return undefined;
    const places: SecretPlace[] = [];
    insertedRow.lastIndex = head.length;
    for (let found = insertedRow.exec(rest); found; found = insertedRow.exec(rest)) {
      const values = [...(found[1] ?? "").matchAll(/\s*('(?:[^']|'')*'|[^,]*)(?:,|$)/g)];
      const value = /^'([^']{6,128})'/.exec(values[index]?.[1] ?? "")?.[1];
      if (value === undefined || !isPassword(value)) continue;
      const from = end + found.index + found[0].indexOf(`'${value}'`) + 1;
      places.push({ kind: "assignment", start: from, end: from + value.length });
    }
    return places.length > 0 ? places : undefined;
  },
};

/** `<td>Password</td><td>…` */
const markedUp = findPasswordAfter(
  "password</|passwort</|kennwort</",
  /^(?:td|th|dt|b|strong|label|span|p)>(?:\s|\\{1,3}[nrt]){0,12}(?:<\/?(?:td|th|dd|code|span|p|b)[^<>\n]{0,80}>(?:\s|\\{1,3}[nrt]){0,12}){1,3}([^\s<>"'\\]{8,128})</,
  (value) => mayBePassword(value, true),
);

export const toldPasswords: readonly Detector[] = [
  ...saidPasswords,
  ...typedPasswords,
  answeredPassword,
  ...listedArguments,
  separatedColumn,
  insertedPassword,
  markedUp,
];
