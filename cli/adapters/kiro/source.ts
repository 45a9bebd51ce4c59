export const source = "kiro";
