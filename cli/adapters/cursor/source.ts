export const source = "cursor";
