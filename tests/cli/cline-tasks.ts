// Made-up tasks in the form of Cline and its relatives.

export const id = "1793527200000";
export const start = Number(id);
export const at = (seconds: number) => new Date(start + seconds * 1000).toISOString();
export const storage = ".config/Code/User/globalStorage/saoudrizwan.claude-dev";
export const environment =
  "<environment_details>\n# Current Working Directory (/home/ada/code/api) Files\na.ts\n\n# Current Mode\nACT MODE\n</environment_details>";

export const text = (words: string) => ({ type: "text", text: words });
export const say = (seconds: number, kind: string, words = "", more: object = {}) => ({
  ts: start + seconds * 1000,
  type: "say",
  say: kind,
  text: words,
  ...more,
});
export const request = (seconds: number, tokensIn: number, tokensOut: number, more: object = {}) =>
  say(
    seconds,
    "api_req_started",
    JSON.stringify({ request: "…", tokensIn, tokensOut, cacheWrites: 5, cacheReads: 100, cost: 0.25 }),
    more,
  );

export const task = (files: Record<string, unknown>, folder = `${storage}/tasks/${id}`) =>
  Object.fromEntries(Object.entries(files).map(([name, value]) => [`${folder}/${name}`, JSON.stringify(value)]));
