import { areas, layers } from './layers.js';
import { sourcesBelow } from './source-tree.js';

export interface Ceiling {
  /** Below the checkout; a layer of `src`, or an area beside it. */
  readonly folder: string;
  readonly lines: number;
  readonly ceiling: number;
}

/** The lines of each folder with its ceiling, blank and comment lines counted. */
export function ceilings(): Ceiling[] {
  const counted = new Map<string, number>();
  for (const { path, lines } of sourcesBelow('src')) {
    const layer = path.split('/')[1] ?? '';
    counted.set(layer, (counted.get(layer) ?? 0) + lines);
  }
  return [
    ...layers.map(({ folder, ceiling }) => ({
      folder: `src/${folder}`,
      lines: counted.get(folder) ?? 0,
      ceiling,
    })),
    ...areas.map(({ folder, ceiling }) => ({
      folder,
      lines: sourcesBelow(folder).reduce((sum, { lines }) => sum + lines, 0),
      ceiling,
    })),
  ];
}
