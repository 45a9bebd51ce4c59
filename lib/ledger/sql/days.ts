// Days in RETURNING, where nodes of a distributed database allow no function whose result depends on a setting, such as a date as
// text.

/** A date as the number of its day since 1970. */
export const dayNumber = (date: string): string => `(${date} - date '1970-01-01')`;

/** Rows with the text of their day, YYYY-MM-DD, instead of its number. */
export const withDays = <Row extends { day: number }>(rows: Row[]): (Omit<Row, "day"> & { day: string })[] =>
  rows.map((row) => ({ ...row, day: new Date(row.day * 86_400_000).toISOString().slice(0, 10) }));
