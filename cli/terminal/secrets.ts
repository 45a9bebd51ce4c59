/** A token as the server creates them (lib/auth/tokens.ts), or most of one. */
const tokenShape = /spoor_[A-Za-z0-9]{24,}/g;
/** Shorter ones would hide ordinary words, and no token is that short. */
const minLength = 8;

/** Removes tokens from what is printed: a server can answer with the one that it was sent. */
export class Secrets {
  readonly #parts = new Set<string>();

  /** @param secret may hold characters that no token has; its parts between them are secrets, too */
  add(secret: string): void {
    for (const part of secret.split(/[^\w.~+/=-]+/)) if (part.length >= minLength) this.#parts.add(part);
  }

  hide(text: string): string {
    let hidden = text;
    for (const part of this.#parts) hidden = hidden.replaceAll(part, "[token]");
    return hidden.replace(tokenShape, "[token]");
  }
}

/** Whether a text contains something like a token. */
export const hasTokenShape = (text: string): boolean => text.search(tokenShape) !== -1;
