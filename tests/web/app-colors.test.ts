import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** The variables of the first rule after `start`. */
function colorsAfter(file: string, start: string): Record<string, string> {
  const css = readFileSync(new URL(`../../web/${file}`, import.meta.url), 'utf8');
  const from = css.indexOf(start);
  const rule = css.slice(from, css.indexOf('}', from));
  return Object.fromEntries(
    [...rule.matchAll(/(--[a-z0-9]+): (#[0-9a-f]+);/g)].map(([, name = '', value = '']) => [name, value]),
  );
}

test('the dark theme of a page in the chat has the colors of the page in a browser, one for each light one', () => {
  const colors = colorsAfter('style.css', '@media (prefers-color-scheme: dark)');
  expect(colorsAfter('app/app.css', "[data-theme='dark']")).toEqual(colors);
  expect(Object.keys(colors)).toEqual(Object.keys(colorsAfter('style.css', ':root {')));
});
