// Builds the pages: the board's for a browser, those that clients show inside a chat, and the extension of VS Code with its own.
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundle, folderBeside, forNode, swapFolder } from './bundles.mjs';
import { licences } from './licences.mjs';
import { zodAsNamespace } from './plugins.mjs';

const forBrowsers = {
  platform: 'browser',
  target: ['chrome111', 'firefox114', 'safari16.4'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  // As for Node: its class is a member of what it exports.
  alias: { '@xterm/addon-serialize': './node_modules/@xterm/addon-serialize/lib/addon-serialize.js' },
};
const withChunks = { ...forBrowsers, splitting: true, chunkNames: '[name]-[hash]', format: 'esm' };
/** Each is one HTML file with everything in it. */
const chatPages = ['board-app', 'decision-app'];

/** Builds the board's pages into `outdir`. */
export async function buildPages({ root, outdir, outputs }) {
  mkdirSync(outdir, { recursive: true });
  await bundle(root, outputs, { ...withChunks, entryPoints: { app: 'web/main.tsx' }, outdir });
  for (const name of ['index.html', 'icon.svg']) copyFileSync(join(root, 'web', name), join(outdir, name));
  const template = readFileSync(join(root, 'web', 'app', 'page.html'), 'utf8');
  for (const page of chatPages) {
    const entryPoints = { [page]: `web/app/${page}.tsx` };
    const options = { ...forBrowsers, entryPoints, outdir, format: 'iife', write: false };
    const { outputFiles: files } = await bundle(root, outputs, options);
    const textOf = (extension) => files.find(({ path }) => path.endsWith(extension))?.text.trim() ?? '';
    writeFileSync(join(outdir, `${page}.html`), withInline(template, textOf('.css'), textOf('.js')));
  }
}

/** The page with style and script in it, and a policy that lets it run these two and load nothing at all. */
function withInline(template, style, script) {
  const policy = [
    "default-src 'none'",
    `script-src '${hashOf(script)}'`,
    `style-src '${hashOf(style)}'`,
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ');
  if (/<\/(script|style)/i.test(style + script))
    throw new Error('The page would end in the middle of itself.');
  return template
    .replace(/>\s+</g, '><')
    .replace('__POLICY__', () => policy)
    .replace(/\s*__STYLE__\s*/, () => style)
    .replace(/\s*__SCRIPT__;?\s*/, () => script);
}

function hashOf(text) {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

/** Builds the extension into vscode/dist: one file, which the editor loads as CommonJS, and the page of its view. */
export async function buildVscode({ root }) {
  const outdir = folderBeside(root);
  const outputs = {};
  const page = { entryPoints: { page: 'web/editor/main.tsx' }, outdir: join(outdir, 'web') };
  await bundle(root, outputs, { ...withChunks, ...page });
  await bundle(root, outputs, {
    ...forNode,
    entryPoints: { extension: 'vscode/src/extension.ts' },
    outdir,
    format: 'cjs',
    banner: {},
    // The editor's own, and the optional native parts of `ws`.
    external: ['vscode', 'bufferutil', 'utf-8-validate'],
    plugins: [zodAsNamespace],
  });
  writeFileSync(join(outdir, 'THIRD_PARTY_LICENSES.txt'), licences(outputs, root));
  swapFolder(outdir, join(root, 'vscode', 'dist'));
}
