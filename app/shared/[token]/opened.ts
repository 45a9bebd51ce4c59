import "server-only";
import { headers } from "next/headers";
import { cache } from "react";
import { originOf } from "#lib/auth/audit";
import { openShare } from "#lib/traces/shares";

/** What a link opens for this request; undefined if it does not open. One request counts once. */
export const openedBy = cache(async (token: string) => openShare(token, originOf(await headers()).address));
