import localFont from "next/font/local";

// Subsets of Geist and Geist Mono (OFL.txt), from the npm packages @fontsource-variable/geist and geist-mono 5.3.0.
// Next reads these calls without running them, so their values are literals. `optional` never exchanges a face that is already shown, so that text never moves.

const sans = localFont({
  src: "./geist-latin.woff2",
  weight: "100 900",
  display: "optional",
  variable: "--font-geist",
  adjustFontFallback: "Arial",
});

const sansExt = localFont({
  src: "./geist-latin-ext.woff2",
  weight: "100 900",
  display: "optional",
  preload: false,
  variable: "--font-geist-ext",
  adjustFontFallback: false,
  declarations: [
    {
      prop: "unicode-range",
      value:
        "U+0100-02BA,U+02BD-02C5,U+02C7-02CC,U+02CE-02D7,U+02DD-02FF,U+1D00-1DBF,U+1E00-1E9F,U+1EF2-1EFF,U+2020,U+20A0-20AB,U+20AD-20C0,U+2113,U+2C60-2C7F,U+A720-A7FF",
    },
  ],
});

const mono = localFont({
  src: "./geist-mono-latin.woff2",
  weight: "100 900",
  display: "optional",
  variable: "--font-geist-mono",
  adjustFontFallback: false,
});

const monoExt = localFont({
  src: "./geist-mono-latin-ext.woff2",
  weight: "100 900",
  display: "optional",
  preload: false,
  variable: "--font-geist-mono-ext",
  adjustFontFallback: false,
  declarations: [
    {
      prop: "unicode-range",
      value:
        "U+0100-02BA,U+02BD-02C5,U+02C7-02CC,U+02CE-02D7,U+02DD-02FF,U+1D00-1DBF,U+1E00-1E9F,U+1EF2-1EFF,U+2020,U+20A0-20AB,U+20AD-20C0,U+2113,U+2C60-2C7F,U+A720-A7FF",
    },
  ],
});

/** Lines and blocks of trees, tables and progress bars, as wide as letters. */
const monoBoxes = localFont({
  src: "./geist-mono-boxes.woff2",
  weight: "100 900",
  display: "optional",
  preload: false,
  variable: "--font-geist-mono-boxes",
  adjustFontFallback: false,
  declarations: [{ prop: "unicode-range", value: "U+2500-259F" }],
});

/** Class names that define the faces' variables. */
export const fontVariables = [sans, sansExt, mono, monoExt, monoBoxes].map(({ variable }) => variable).join(" ");
