import "server-only";
import { createOTP } from "@better-auth/utils/otp";
import { type createAuthMiddleware, getSessionFromCtx } from "better-auth/api";
import { constantTimeEqual, symmetricDecrypt } from "better-auth/crypto";
import { type Db, prisma } from "#lib/db/client";

export type HookContext = Parameters<Parameters<typeof createAuthMiddleware>[0]>[0];

/** better-auth also accepts the codes before and after the current one. */
export const totpOptions = { digits: 6, period: 30 } as const;
const acceptedSteps = [-1, 0, 1];

/** A code is valid only once (RFC 6238, section 5.2); better-auth counts an empty one as wrong. */
export async function spendCode(context: HookContext): Promise<{ context: { body: { code: string } } } | undefined> {
  const userId =
    (await getSessionFromCtx(context, { disableRefresh: true }))?.user.id ?? (await findPendingUser(context));
  const fresh = userId !== undefined && (await isFreshCode(context, userId, String(context.body?.code)));
  return fresh ? undefined : { context: { body: { code: "" } } };
}

async function isFreshCode(context: HookContext, userId: string, code: string): Promise<boolean> {
  const factor = await prisma().twoFactor.findFirst({ where: { userId }, select: { id: true, secret: true } });
  if (!factor) return false;
  const secret = await symmetricDecrypt({ key: context.context.secretConfig, data: factor.secret });
  const lastStep = await getStep(code, secret);
  if (lastStep === undefined) return false;
  const { count } = await prisma().twoFactor.updateMany({
    where: { id: factor.id, OR: [{ lastStep: null }, { lastStep: { lt: lastStep } }] },
    data: { lastStep },
  });
  return count === 1;
}

/** Among the steps that are accepted now. */
async function getStep(code: string, secret: string): Promise<number | undefined> {
  const now = Math.floor(Date.now() / 1000 / totpOptions.period);
  const otp = createOTP(secret, totpOptions);
  const codes = await Promise.all(
    acceptedSteps.map(async (offset) => [now + offset, await otp.hotp(now + offset)] as const),
  );
  return codes.find(([, right]) => constantTimeEqual(right, code))?.[0];
}

export async function findPendingUser(context: HookContext): Promise<string | undefined> {
  const { name } = context.context.createAuthCookie("two_factor");
  const identifier = await context.getSignedCookie(name, context.context.secret);
  if (!identifier) return undefined;
  return (await context.context.internalAdapter.findVerificationValue(identifier))?.value;
}

/**
 * Ends trusted browsers, pending second factors and pending provider links, which better-auth stores as values with the
 * user's id.
 */
export async function endTrust(db: Db, userId: string): Promise<void> {
  await db.verification.deleteMany({ where: { value: { contains: userId } } });
}
