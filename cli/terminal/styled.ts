type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

/** A text in a style of ours. Only these reach a terminal with escape sequences; as part of a string it is plain text. */
export class Styled {
  readonly style: Style;
  readonly text: string;

  constructor(style: Style, text: string) {
    this.style = style;
    this.text = text;
  }

  toString(): string {
    return this.text;
  }
}

export const styled = (style: Style, text: string): Styled => new Styled(style, text);
