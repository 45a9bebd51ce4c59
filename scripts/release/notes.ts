/**
 * The section of a version in a changelog, without its heading: the notes of that release.
 *
 * @throws where there is none, or it is empty
 */
export function findNotes(changelog: string, version: string): string {
  const [, ...sections] = changelog.split(/^## /m);
  const own = sections.find((section) => section.split(/\s/, 1)[0] === version);
  const notes = own?.slice(own.indexOf("\n")).trim();
  if (!notes) throw new Error(`CHANGELOG.md says nothing of ${version}.`);
  return `${notes}\n`;
}
