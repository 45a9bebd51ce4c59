import "server-only";
import { cookies } from "next/headers";
import { asWidth, widthCookie } from "./widths";

/** A cookie, so that the first paint has the width. */
export const readOutlineWidth = async (): Promise<number> => asWidth((await cookies()).get(widthCookie)?.value);
