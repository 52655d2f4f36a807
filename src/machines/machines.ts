import type { Config } from '../config/schema.js';
import type { Machines } from './machine.js';

export function openMachines(_options: { readonly config: Config }): Machines {
  throw new Error('not yet');
}
