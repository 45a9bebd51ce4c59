/** Our form has one part, and a browser's extension may add some. */
const maxParts = 16;
/** A file's name may be long. */
const maxHeadBytes = 8 * 1024;

const endOfHead = "\r\n\r\n";

/**
 * Finds the field `file` by the form's boundaries (RFC 7578): `formData()` takes 1.7 s of the event loop for 16 MiB of
 * tiny parts.
 * @returns undefined if the form is incomplete, has no such file, or too many parts
 */
export function findFile(form: Buffer, type: string): Buffer | undefined {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]{1,70})"|([^\s";]{1,70}))/i.exec(type) ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) return undefined;
  const first = `--${boundary}\r\n`;
  const delimiter = `\r\n--${boundary}`;
  let at = form.subarray(0, first.length).toString("latin1") === first ? first.length : -1;
  for (let parts = 0; at !== -1 && parts < maxParts; parts += 1) {
    const head = form.subarray(at, at + maxHeadBytes);
    const headBytes = head.indexOf(endOfHead);
    const from = at + headBytes + endOfHead.length;
    const to = headBytes === -1 ? -1 : form.indexOf(delimiter, from, "latin1");
    if (to === -1) return undefined;
    if (isFile(head.toString("utf8", 0, headBytes))) return form.subarray(from, to);
    const next = to + delimiter.length;
    at = form.toString("latin1", next, next + 2) === "\r\n" ? next + 2 : -1;
  }
  return undefined;
}

function isFile(head: string): boolean {
  const [, fields = ""] = /^content-disposition:\s*form-data\s*;([^\r\n]*)/im.exec(head) ?? [];
  return /(?:^|;)\s*name="file"\s*(?:;|$)/i.test(fields) && /;\s*filename\*?=/i.test(`;${fields}`);
}
