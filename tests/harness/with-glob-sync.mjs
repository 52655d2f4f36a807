// For programs that import `globSync` of `fs`, which Node 20 does not have, and do not need it: node --import of this file.
import { register } from 'node:module';

const source = `
import fs from 'node:fs';
export * from 'node:fs';
export default fs;
export const globSync = fs.globSync ?? (() => { throw new Error('this Node has no globSync'); });
`;
const hooks = `
const OWN = 'fs-with-glob-sync:';
export async function resolve(specifier, context, next) {
  const wanted = specifier === 'fs' && context.parentURL?.includes('/node_modules/') === true;
  return wanted ? { url: OWN, format: 'module', shortCircuit: true } : next(specifier, context);
}
export async function load(url, context, next) {
  return url === OWN ? { format: 'module', source: ${JSON.stringify(source)}, shortCircuit: true } : next(url, context);
}
`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
