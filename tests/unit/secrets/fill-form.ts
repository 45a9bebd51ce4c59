import { hasClass, parseTokenForm, type TokenForm } from "#common/secrets/detectors/token-forms";
import { makeRandom } from "../../support/random.ts";

const random = makeRandom(7);

const letters = [...Array(128).keys()]
  .map((code) => String.fromCharCode(code))
  .filter((letter) => /[0-9A-Za-z]/.test(letter));

export function fillForm({ head, parts }: TokenForm): string {
  const filled = parts.map((part) => {
    if (typeof part === "string") return part;
    const allowed = letters.filter((letter) => hasClass(part.bit, letter.charCodeAt(0)));
    return Array.from({ length: part.min }, () => allowed[Math.floor(random() * allowed.length)]).join("");
  });
  return head + filled.join("");
}

/** @param shape a class and a length, as in common/secrets/detectors/token-forms.ts */
export const run = (shape: string): string => fillForm(parseTokenForm(`head{${shape}}`)).slice("head".length);
