/** Signed-in pages that replace each other without a reload, except confirmations, which forms lead to, too. */
const soft =
  /^\/(?:home|traces(?!\/delete)|projects|pull|files|findings|uploads?|usage|devices|diagnostics|settings)(?:\/|$)/;

export const isSoft = (path: string): boolean => soft.test(path);

export const isReader = (path: string): boolean => /^\/traces\/[0-9a-f-]{36}$/.test(path);
