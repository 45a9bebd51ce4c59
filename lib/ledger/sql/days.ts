// Days in RETURNING as numbers: nodes of a distributed database accept no function there that depends on a setting,
// such as a date's text.

export const dayNumber = (date: string): string => `(${date} - date '1970-01-01')`;

export const withDays = <Row extends { day: number }>(rows: Row[]): (Omit<Row, "day"> & { day: string })[] =>
  rows.map((row) => ({ ...row, day: new Date(row.day * 86_400_000).toISOString().slice(0, 10) }));
