// Pure: resources without what is about tools that are not offered.
import type { Resource } from '../mcp/resource.js';

/** A skill teaches how to delegate with this tool. */
const TAUGHT = 'start_task';
const SECTION = /\n(?=## )/;
/** A paragraph or an item of a list, with what divides it from the one before. */
const BLOCK = /(?=\n\n|\n- )/;

/** A skill is there where its tools are, without the paragraphs that name one that is not offered. */
export function offeredResources<Services>(
  resources: readonly Resource<Services>[],
  { offered, all }: { readonly offered: ReadonlySet<string>; readonly all: readonly string[] },
): readonly Resource<Services>[] {
  const missing = all.filter((name) => !offered.has(name));
  return resources.flatMap((resource) => {
    if (resource.isSkill !== true || missing.length === 0) return [resource];
    if (!offered.has(TAUGHT)) return [];
    const read = async (variable: string, services: Services): Promise<string> =>
      withoutTools(await resource.read(variable, services), missing);
    return [{ ...resource, read }];
  });
}

/** Without the paragraphs and list items that name one of these tools, and sections of which nothing is left; numbers close up. */
function withoutTools(text: string, missing: readonly string[]): string {
  const named = new RegExp(`\`(?:${missing.join('|')})\``);
  const [first = '', ...sections] = text.split(SECTION);
  const left = sections.flatMap((section) => {
    const [heading = '', ...blocks] = section.trimEnd().split(BLOCK);
    const kept = blocks.filter((block) => !named.test(block));
    return kept.length === 0 ? [] : [[heading, ...kept].join('').replace(/^([^\n]*)\n+/, '$1\n\n')];
  });
  const numbered = left.map((section, index) => section.replace(/^## \d+\./, `## ${index + 1}.`));
  return [first.trimEnd(), ...numbered].join('\n\n').concat('\n');
}
