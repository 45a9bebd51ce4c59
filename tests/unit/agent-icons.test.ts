import { expect, test } from "vitest";
import { iconPath, names } from "../../app/components/agent-icons.ts";

/** All icons as one SVG of symbols, for lists, which would have them in each page twice: as HTML and for the script. */
const sheet = () => {
  const symbols = names.map(
    (name) => `<symbol id="${name}" viewBox="0 0 24 24"><path d="${iconPath(name)}"/></symbol>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg">${symbols.join("")}</svg>\n`;
};

test("public/agents.svg has the icon of each agent; `npx vitest run tests/unit/agent-icons.test.ts -u` writes it", async () => {
  await expect(sheet()).toMatchFileSnapshot("../../public/agents.svg");
});
