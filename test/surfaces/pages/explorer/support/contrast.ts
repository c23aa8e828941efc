import type { Page } from "playwright-core";

/** What the elements of a page need of the browser's types here. */
interface Shown {
  readonly parentElement: Shown | null;
  readonly childNodes: Iterable<{ readonly nodeType: number; readonly textContent: string | null }>;
  readonly textContent: string | null;
  checkVisibility(options: object): boolean;
  matches(selector: string): boolean;
}

/**
 * The visible texts whose contrast with their background is less than WCAG 2 asks for at level AA: 4.5, or 3 where the
 * text is large.
 */
export const findFaint = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const world = globalThis as unknown as {
      document: { querySelectorAll(selector: string): Iterable<Shown> };
      getComputedStyle(element: Shown): Record<string, string>;
    };
    const toColor = (text = ""): number[] => (text.match(/[\d.]+/g) ?? []).map(Number);
    const toLight = ([red = 0, green = 0, blue = 0]: number[]): number => {
      const [r = 0, g = 0, b = 0] = [red, green, blue].map((value) => {
        const part = value / 255;
        return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const groundOf = (element: Shown | null): number[] => {
      if (element === null) return [255, 255, 255];
      const color = toColor(world.getComputedStyle(element).backgroundColor);
      return color.length === 3 || (color[3] ?? 1) > 0 ? color : groundOf(element.parentElement);
    };
    const hasText = ({ childNodes }: Shown): boolean =>
      [...childNodes].some(({ nodeType, textContent }) => nodeType === 3 && textContent?.trim());
    const faint: string[] = [];
    for (const element of world.document.querySelectorAll("body *")) {
      if (
        !hasText(element) ||
        !element.checkVisibility({ visibilityProperty: true }) ||
        element.matches("script, :disabled")
      )
        continue;
      const { color, fontSize = "16px", fontWeight } = world.getComputedStyle(element);
      const [one, other] = [toLight(toColor(color)), toLight(groundOf(element))];
      const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
      const size = Number.parseFloat(fontSize);
      const isLarge = size >= 24 || (size >= 18.66 && Number(fontWeight) >= 700);
      if (ratio < (isLarge ? 3 : 4.5)) faint.push(`${ratio.toFixed(2)} ${element.textContent?.trim().slice(0, 60)}`);
    }
    return faint;
  });
