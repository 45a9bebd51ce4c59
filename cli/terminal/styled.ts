type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

/** Only this class produces escape sequences on a terminal; in a string it is plain text. */
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
