import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** The variables of the first rule after `start`. */
function colorsAfter(file: string, start: string): Record<string, string> {
  const css = readFileSync(new URL(`../../web/${file}`, import.meta.url), 'utf8');
  const from = css.indexOf(start);
  const rule = css.slice(from, css.indexOf('}', from));
  return Object.fromEntries(
    [...rule.matchAll(/(--[a-z]+): (#[0-9a-f]+);/g)].map(([, name = '', value = '']) => [name, value]),
  );
}

test.each([
  ['light', ':root {'],
  ['dark', '@media (prefers-color-scheme: dark)'],
])('the %s theme of a page in the chat has the colors of the page in a browser', (theme, start) => {
  const colors = colorsAfter('style.css', start);
  expect(Object.keys(colors).length).toBeGreaterThan(10);
  expect(colorsAfter('app/app.css', `[data-theme='${theme}']`)).toEqual(colors);
});
