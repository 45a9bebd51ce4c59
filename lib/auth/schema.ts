import { z } from "zod";

export const sessionResponse = z.object({
  ok: z.literal(true),
  userId: z.uuid(),
  user: z.object({ name: z.string(), email: z.string() }),
  machine: z.string(),
  tokenId: z.uuid(),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
});

export const signInForm = z.object({
  email: z.email("Enter an email address."),
  password: z.string().min(1, "Enter your password."),
});

export const accountForm = z.object({
  name: z.string().trim().min(1, "Enter your name.").max(100, "At most 100 characters."),
  email: z.email("Enter an email address.").max(254, "At most 254 characters."),
  password: z.string().min(10, "At least 10 characters.").max(128, "At most 128 characters."),
});

/**
 * A path of this site to go on to after signing in. Anything that a browser could take for another host
 * (`//evil.example`, `/\evil.example`, a full URL) becomes `/`.
 */
export function localPath(path: string | undefined | null): string {
  if (!path?.startsWith("/") || /^\/[/\\]/.test(path) || /[\p{Cc}\\]/u.test(path)) return "/";
  return path;
}
