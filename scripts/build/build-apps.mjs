// Builds the pages that clients show inside a chat: each is one HTML file in dist/web with everything in it.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const pages = ['board-app', 'decision-app'];

/** The outputs of the bundler, for the list of licences. */
export async function buildApps({ root, outdir, options }) {
  mkdirSync(outdir, { recursive: true });
  const template = readFileSync(join(root, 'web', 'app', 'page.html'), 'utf8');
  const outputs = {};
  for (const page of pages) {
    const { outputFiles, metafile } = await build({
      ...options,
      absWorkingDir: root,
      entryPoints: { [page]: `web/app/${page}.tsx` },
      outdir,
      format: 'iife',
      write: false,
      metafile: true,
    });
    const textOf = (extension) => outputFiles.find(({ path }) => path.endsWith(extension))?.text.trim() ?? '';
    writeFileSync(join(outdir, `${page}.html`), withInline(template, textOf('.css'), textOf('.js')));
    Object.assign(outputs, metafile.outputs);
  }
  return outputs;
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
