export const source = "zed";
