/** A simple command of a shell script; a word that the shell would expand is undefined. */
export type Command = {
  words: (string | undefined)[];
  heredocs: Heredoc[];
  outputs: { path: string | undefined; appends: boolean }[];
  end: "&&" | ";" | "other";
};

type Heredoc = { tag: string; isRaw: boolean; stripsTabs: boolean; text: string };

const control =
  /^(?:if|then|else|elif|fi|for|while|until|do|done|case|esac|select|function|time|!|\{|\}|\[\[|exec|eval)$/;

const maxCharacters = 200_000;

/** Undefined if anything is conditional, repeated or in a subshell. */
export function readCommands(script: string): Command[] | undefined {
  if (script.length > maxCharacters) return undefined;
  const reader = new Reader(script);
  const commands: Command[] = [];
  for (let command = reader.next(); command !== undefined; command = reader.next()) {
    if (command === "unknown" || control.test(command.words[0] ?? "")) return undefined;
    if (command.words.length > 0 || command.outputs.length > 0) commands.push(command);
  }
  return reader.isWhole ? commands : undefined;
}

const blank = /[ \t\r]/;

class Reader {
  readonly #text: string;
  #at = 0;
  #waiting: Heredoc[] = [];
  /** Every quote and heredoc so far is closed. */
  isWhole = true;

  constructor(text: string) {
    this.#text = text;
  }

  next(): Command | "unknown" | undefined {
    if (this.#at >= this.#text.length) return undefined;
    const command: Command = { words: [], heredocs: [], outputs: [], end: ";" };
    for (;;) {
      while (blank.test(this.#text.charAt(this.#at)) || this.#text.startsWith("\\\n", this.#at))
        this.#at += this.#text[this.#at] === "\\" ? 2 : 1;
      if (this.#at >= this.#text.length) return command;
      const character = this.#text.charAt(this.#at);
      if (character === "#") this.#skipLine();
      else if (character === "\n") {
        this.#at += 1;
        this.#readHeredocs();
        return command;
      } else if (/[;&|]/.test(character)) {
        command.end = this.#end();
        return command;
      } else if (/[()]/.test(character)) return "unknown";
      else if (!this.#redirection(command)) {
        const from = this.#at;
        command.words.push(this.#word());
        if (this.#at === from) return "unknown"; // `<<<`, or another kind of blank, which no word can begin with
      }
    }
  }

  #skipLine(): void {
    const end = this.#text.indexOf("\n", this.#at);
    this.#at = end === -1 ? this.#text.length : end;
  }

  #end(): Command["end"] {
    const [sign = ""] = /^(?:&&|\|\||;;|\|&|[;&|])/.exec(this.#text.slice(this.#at, this.#at + 2)) ?? [];
    this.#at += sign.length;
    return sign === "&&" || sign === ";" ? sign : "other";
  }

  #redirection(command: Command): boolean {
    const found = /^(\d|&)?(<<-?|>>|>\||>|<)(?!<)(&\d|&-)?/.exec(this.#text.slice(this.#at, this.#at + 8));
    if (!found) return false;
    const [whole, from = "1", sign = "", to] = found;
    this.#at += whole.length;
    if (to) return true;
    while (blank.test(this.#text.charAt(this.#at))) this.#at += 1;
    const quoted = /["'\\]/.test(this.#text.charAt(this.#at));
    const target = this.#word();
    if (sign.startsWith("<<")) {
      const heredoc = { tag: target ?? "", isRaw: quoted, stripsTabs: sign === "<<-", text: "" };
      command.heredocs.push(heredoc);
      this.#waiting.push(heredoc);
    } else if (sign.startsWith(">") && from !== "2") command.outputs.push({ path: target, appends: sign === ">>" });
    return true;
  }

  #readHeredocs(): void {
    for (const heredoc of this.#waiting) {
      const lines: string[] = [];
      for (;;) {
        if (this.#at >= this.#text.length) {
          this.isWhole = false;
          break;
        }
        const end = this.#text.indexOf("\n", this.#at);
        const line = this.#text.slice(this.#at, end === -1 ? undefined : end);
        this.#at = end === -1 ? this.#text.length : end + 1;
        const bare = heredoc.stripsTabs ? line.replace(/^\t+/, "") : line;
        if (bare === heredoc.tag) break;
        lines.push(bare);
      }
      heredoc.text = lines.map((line) => `${line}\n`).join("");
    }
    this.#waiting = [];
  }

  #word(): string | undefined {
    let word = "";
    let isPlain = true;
    while (this.#at < this.#text.length) {
      const character = this.#text.charAt(this.#at);
      if (/[\s;&|<>()]/.test(character)) break;
      this.#at += 1;
      if (character === "'") word += this.#until("'");
      else if (character === '"') {
        const inner = this.#doubleQuoted();
        if (/(?<!\\)[$`]/.test(inner)) isPlain = false;
        word += inner.replace(/\\([$`"\\])/g, "$1");
      } else if (character === "\\") {
        word += this.#text.charAt(this.#at);
        this.#at += 1;
      } else {
        if (/[$`*?[\]{}]/.test(character) || (character === "~" && word === "" && this.#text[this.#at] !== "/"))
          isPlain = false;
        word += character;
      }
    }
    return isPlain ? word : undefined;
  }

  #until(quote: string): string {
    const end = this.#text.indexOf(quote, this.#at);
    if (end === -1) this.isWhole = false;
    const inner = this.#text.slice(this.#at, end === -1 ? undefined : end);
    this.#at = end === -1 ? this.#text.length : end + 1;
    return inner;
  }

  #doubleQuoted(): string {
    const from = this.#at;
    while (this.#at < this.#text.length && this.#text[this.#at] !== '"')
      this.#at += this.#text[this.#at] === "\\" ? 2 : 1;
    if (this.#at >= this.#text.length) this.isWhole = false;
    this.#at += 1;
    return this.#text.slice(from, this.#at - 1);
  }
}
