/** The built client. */
export const clientFile = "dist/spoor.mjs";

/** The folder of the built processes. */
export const serverFolder = "dist/server";
