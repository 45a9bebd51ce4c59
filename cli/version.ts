declare const SPOOR_VERSION: string | undefined;

/** The application's version, inserted by the build. */
export const version = typeof SPOOR_VERSION === "string" ? SPOOR_VERSION : "source";
