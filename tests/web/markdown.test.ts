import { isValidElement, type ComponentChildren } from 'preact';
import { expect, test } from 'vitest';
import { Markdown } from '../../web/markdown/markdown.js';

/** What the page would hold: each element by its name, with its address. */
function html(node: ComponentChildren): string {
  if (Array.isArray(node)) return node.map(html).join('');
  if (typeof node === 'string' || typeof node === 'number') return `${node}`;
  if (!isValidElement(node)) return '';
  const { type, props } = node;
  if (typeof type === 'function') {
    const drawn: unknown = Reflect.apply(type, undefined, [props]);
    return isChild(drawn) ? html(drawn) : '';
  }
  const { children, href, rel } = { href: undefined, rel: undefined, ...props };
  const facts = href === undefined ? '' : ` ${String(href)} ${String(rel)}`;
  return `<${type}${facts}>${html(children)}</${type}>`;
}

function isChild(value: unknown): value is ComponentChildren {
  return typeof value === 'string' || Array.isArray(value) || isValidElement(value);
}

/** The elements of a text, without the frame around them. */
function drawn(text: string): string {
  return html(Markdown({ text, label: 'Plan' })).replace(/^<div>|<\/div>$/g, '');
}

test.each([
  ['# First\n\n## Second\n\n### Third', '<h3>First</h3><h4>Second</h4><h5>Third</h5>'],
  [
    'One *two* **three** ~~four~~ `five`',
    '<p>One <em>two</em> <strong>three</strong> <del>four</del> <code>five</code></p>',
  ],
  ['- a\n- b', '<ul><li>a</li><li>b</li></ul>'],
  ['3. a\n4. b', '<ol><li>a</li><li>b</li></ol>'],
  ['- [x] done\n- [ ] open', '<ul><li><span>☑ </span>done</li><li><span>☐ </span>open</li></ul>'],
  ['```sh\nrm -f a\n```', '<pre><code>rm -f a</code></pre>'],
  ['> quoted', '<blockquote><p>quoted</p></blockquote>'],
  [
    '| a | b |\n| - | - |\n| 1 | 2 |',
    '<div><table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table></div>',
  ],
])('%j is drawn as what it means', (text, expected) => {
  expect(drawn(text)).toBe(expected);
});

test.each([
  ['<script>alert(1)</script>', '<script>alert(1)</script>'],
  ['a <img src=x onerror=alert(1)> b', '<p>a <img src=x onerror=alert(1)> b</p>'],
  ['![alt](https://example.com/a.png)', '<p>![alt](https://example.com/a.png)</p>'],
])('%j stays text', (text, expected) => {
  expect(drawn(text)).toBe(expected);
});

test('a link shows where it leads, whatever its words say, and opens without a way back', () => {
  expect(drawn('[https://good.example](https://bad.example/x)')).toBe(
    '<p><a https://bad.example/x noopener noreferrer>https://good.example</a><span> (https://bad.example/x)</span></p>',
  );
});

test.each(['javascript:alert(1)', 'file:///etc/passwd', 'data:text/html,x', '/relative', '//host.example/x'])(
  'the address %s is no link',
  (address) => {
    expect(drawn(`[words](${address})`)).toBe(`<p>[words](${address})</p>`);
  },
);

test('characters that are not seen are shown as escapes everywhere', () => {
  const hidden = '\u202e';
  expect(drawn(`# a${hidden}\n\n- b${hidden}\n\n\`c${hidden}\`\n\n    d${hidden}`)).toBe(
    '<h3>a\\u202e</h3><ul><li><p>b\\u202e</p></li></ul>'.replace('<p>', '').replace('</p>', '') +
      '<p><code>c\\u202e</code></p><pre><code>d\\u202e</code></pre>',
  );
});
