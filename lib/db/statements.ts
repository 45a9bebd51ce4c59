import "server-only";

/** A semicolon inside these ends no statement (PostgreSQL 18, section 4.1). Nested comments are not supported. */
const opaque = String.raw`\b[eE]'(?:[^'\\]|\\[^]|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\w*)\$[^]*?\$\1\$|--[^\n]*|\/\*[^]*?\*\/`;

/** Splits a script into statements, without their semicolons. */
export function splitStatements(script: string): string[] {
  const statements: string[] = [];
  let begin = 0;
  let isEmpty = true;
  const end = (at: number) => {
    if (!isEmpty) statements.push(script.slice(begin, at).trim());
    begin = at + 1;
    isEmpty = true;
  };
  for (const { 0: token, index } of script.matchAll(new RegExp(`${opaque}|;|[^]`, "g"))) {
    if (token === ";") end(index);
    else if (!/^(?:\s|--|\/\*)/.test(token)) isEmpty = false;
  }
  end(script.length);
  return statements;
}
