import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Words of zod in fifty languages of which one is used: a third of what zod weighs. */
export const englishOnly = {
  name: 'english-only',
  setup({ onLoad }) {
    onLoad({ filter: /zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, ({ path }) => ({
      contents: "export { default as en } from './en.js';",
      resolveDir: dirname(path),
    }));
  },
};

/** As a namespace, zod can be cut down to what is used; as the object `z` it cannot: 100 kB and 10 ms of every start. */
export const zodAsNamespace = {
  name: 'zod-as-namespace',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, ({ path }) => {
      if (path.includes('node_modules')) return undefined;
      const source = readFileSync(path, 'utf8').replace(
        "import { z } from 'zod';",
        "import * as z from 'zod';",
      );
      return { contents: source, loader: 'ts' };
    });
  },
};
