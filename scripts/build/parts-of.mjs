import { join } from 'node:path';

/** The parts of the page as `folder` of web/ has them: they replace web/parts.ts. */
export function partsOf(folder) {
  const own = join('web', folder, 'parts.ts');
  return {
    name: 'parts-of',
    setup({ onResolve, resolve }) {
      onResolve({ filter: /^\.\.\/parts\.js$/ }, ({ kind, importer }) =>
        // It may pass on some of those that it replaces.
        importer.endsWith(own)
          ? undefined
          : resolve(`../${folder}/parts.ts`, { kind, importer, resolveDir: join(importer, '..') }),
      );
    },
  };
}
