import "server-only";

/**
 * What is not searched for the end of a statement: strings (with E in front, backslashes escape), names, bodies between dollars,
 * and comments (PostgreSQL 18, section 4.1; a comment within a comment is not known).
 */
const opaque = String.raw`\b[eE]'(?:[^'\\]|\\[^]|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\w*)\$[^]*?\$\1\$|--[^\n]*|\/\*[^]*?\*\/`;

/** The statements of a script, in order, without the semicolons that end them. */
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
