import { z } from "zod";
import { optional } from "#lib/variables/kinds";

/** Keys for what is stored. */
export const encryptionVariables = {
  ENCRYPTION_KEY: optional(z.string().min(43, "must be 32 bytes in base64"), {
    text: "encrypts the bodies of uploads at rest: 32 bytes in base64; several, separated by commas: the first one encrypts, all are read with; see [Encryption at rest](#encryption-at-rest)",
    unset: "they are stored as they are",
  }),
  ENCRYPTION_KEY_FILE: optional(z.string(), {
    text: "a file with what `ENCRYPTION_KEY` would have",
    unset: "`ENCRYPTION_KEY`",
  }),
};
