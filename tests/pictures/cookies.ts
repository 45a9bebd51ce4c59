/** A browser's cookies for a request's header of them, and the time zone that its pages are in. */
export function getCookies(header: string, url: string) {
  const pairs = header.split("; ").filter((pair) => pair !== "");
  return [...pairs, "spoor_tz=Europe%2FBerlin"].map((pair) => {
    const at = pair.indexOf("=");
    return { name: pair.slice(0, at), value: pair.slice(at + 1), url };
  });
}
