/** The pages that replace each other without a reload: all of those who are signed in but questions, which a form leads to, too. */
const soft =
  /^\/(?:home|traces(?!\/delete)|projects|pull|files|findings|uploads?|usage|devices|diagnostics|settings)(?:\/|$)/;

/** Whether a path is of a page that needs no reload. */
export const isSoft = (path: string): boolean => soft.test(path);

/** Whether a path is a session's. */
export const isReader = (path: string): boolean => /^\/traces\/[0-9a-f-]{36}$/.test(path);
