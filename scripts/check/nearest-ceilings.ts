// Prints the five folders that are nearest to their ceilings.
import { ceilings } from '../../tests/architecture/ceilings.js';

const nearest = ceilings()
  .toSorted((a, b) => a.ceiling - a.lines - (b.ceiling - b.lines))
  .slice(0, 5);
const words = nearest.map(({ folder, lines, ceiling }) => `${folder} ${lines} of ${ceiling}`);
process.stdout.write(`nearest to their ceilings (lines): ${words.join(', ')}\n`);
