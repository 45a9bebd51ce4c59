/** A server's token (lib/auth/tokens.ts), or most of one. */
const tokenShape = /spoor_[A-Za-z0-9]{24,}/g;
/** Shorter parts would hide ordinary words, and no token is that short. */
const minLength = 8;

/** Hides tokens in the output, because a server can answer with the one that it received. */
export class Secrets {
  readonly #parts = new Set<string>();

  /** @param secret parts between invalid characters are hidden separately */
  add(secret: string): void {
    for (const part of secret.split(/[^\w.~+/=-]+/)) if (part.length >= minLength) this.#parts.add(part);
  }

  hide(text: string): string {
    let hidden = text;
    for (const part of this.#parts) hidden = hidden.replaceAll(part, "[token]");
    return hidden.replace(tokenShape, "[token]");
  }
}

export const hasTokenShape = (text: string): boolean => text.search(tokenShape) !== -1;
