import { z } from "zod";
import { scopes, withoutInvisible } from "#lib/core/fields";

export const sessionResponse = z.object({
  ok: z.literal(true),
  userId: z.uuid(),
  user: z.object({ name: z.string(), email: z.string() }),
  machine: z.string(),
  tokenId: z.uuid(),
  scopes: z.array(z.enum(scopes)),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
});

export const signInForm = z.object({
  email: z.email("Enter an email address."),
  password: z.string().min(1, "Enter your password."),
});

export const passwordLength = { min: 8, max: 128 };
export const passwordRule = "Use at least 12 characters, or 8 that are hard to guess.";

export const accountForm = z.object({
  name: z
    .string()
    .transform((name) => withoutInvisible(name).trim())
    .pipe(z.string().min(1, "Enter your name.").max(100, "At most 100 characters.")),
  email: z.email("Enter an email address.").max(254, "At most 254 characters."),
  password: z.string().min(passwordLength.min, passwordRule).max(passwordLength.max, "At most 128 characters."),
});

export const nameForm = accountForm.pick({ name: true });

export const newPasswordForm = z.object({
  current_password: z.string().min(1, "Enter your current password."),
  new_password: accountForm.shape.password,
});

const totpCode = z
  .string()
  .transform((typed) => typed.replace(/\s/g, ""))
  .pipe(z.string().regex(/^\d{6}$/, "Enter the six digits from your app."));

export const codeForm = z.object({ code: totpCode });

export const recoveryForm = z.object({
  recovery_code: z.string().trim().min(1, "Enter one of your recovery codes.").max(64, "This is not a recovery code."),
});

/** The address is only a note for the inviter. */
export const inviteForm = z.object({
  email: z.union(
    [z.literal("").transform(() => null), accountForm.shape.email.transform((text) => text.toLowerCase())],
    {
      error: "Enter an email address, or leave it empty.",
    },
  ),
});

export const idForm = z.object({ id: z.uuid() });
