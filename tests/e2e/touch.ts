import type { Page } from "playwright";

/**
 * Touch targets: controls, and links outside running text. Exempt (WCAG 2.5.5) are links within a sentence and those with an
 * equivalent control: filters in rows, bars of charts, the contents of the API's page.
 */
const controls =
  "button, summary, select, textarea, input:enabled:not([type=hidden]), [role=tab], [role=button], a[href]:not(.quiet-link:not(.target, [data-row]), .facts a, .figures a, .sr-only, .skip, svg a)";

/** CSS pixels; a fraction of a pixel less is tolerated. */
const minPixels = 43.5;

/**
 * The visible controls of a page whose touch area is lower than 44 CSS pixels. The area is measured by hit testing, so that
 * space around a small mark counts where it belongs to the control.
 *
 * @returns each one's height and HTML
 */
export function lowControls(page: Page): Promise<string[]> {
  return page.locator(controls).evaluateAll(
    (all, { min, controls }) => {
      const isHit = (control: Element, x: number, y: number) => {
        const hit = document.elementFromPoint(x, y);
        return hit !== null && (control.contains(hit) || hit.closest(controls) === control);
      };
      const getHeight = (control: Element) => {
        control.scrollIntoView({ block: "center", behavior: "instant" });
        const { left, right, top, bottom } = control.getBoundingClientRect();
        const [x, y] = [(left + right) / 2, (top + bottom) / 2];
        let [up, down] = [0, 0];
        while (up < 60 && isHit(control, x, y - up - 1)) up += 1;
        while (down < 60 && isHit(control, x, y + down + 1)) down += 1;
        return Math.max(bottom - top, up + down + 1);
      };
      const isInSentence = (link: Element) =>
        getComputedStyle(link).display === "inline" &&
        link.parentElement?.textContent.trim() !== link.textContent.trim();
      return all
        .filter((one) => {
          const { width, height } = one.getBoundingClientRect();
          const { opacity, visibility } = getComputedStyle(one);
          const isSeen =
            one.checkVisibility() && visibility === "visible" && opacity !== "0" && width > 1 && height > 1;
          return isSeen && !(one.matches("a") && isInSentence(one));
        })
        .map((one) => one.closest("label") ?? one)
        .map((one) => ({ height: getHeight(one), html: one.outerHTML.slice(0, 160) }))
        .filter(({ height }) => height < min)
        .map(({ height, html }) => `${height} px: ${html}`);
    },
    { min: minPixels, controls },
  );
}
