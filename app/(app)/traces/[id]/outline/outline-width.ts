import "server-only";
import { cookies } from "next/headers";
import { asWidth, widthCookie } from "./widths";

/** The outline's width in rem, by the reader's cookie, so that the first paint has it already. */
export const readOutlineWidth = async (): Promise<number> => asWidth((await cookies()).get(widthCookie)?.value);
