// Pure: resources without what is about tools that are not offered.
import type { Resource } from '../mcp/resource.js';

/** A skill teaches how to delegate with this tool. */
const TAUGHT = 'start_task';
const SECTION = /\n(?=## )/;
const BLOCK = /\n\n|\n(?=- )/;

export interface ToolNames {
  readonly offered: ReadonlySet<string>;
  readonly all: readonly string[];
}

/** A skill is there where its tools are, without the paragraphs that name one that is not offered. */
export function offeredResources<Services>(
  resources: readonly Resource<Services>[],
  { offered, all }: ToolNames,
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
export function withoutTools(text: string, missing: readonly string[]): string {
  const named = new RegExp(`\`(?:${missing.join('|')})\``);
  const [first = '', ...sections] = text.split(SECTION);
  const left = sections.map((section) => withoutBlocks(section, named)).filter((section) => section !== '');
  const numbered = left.map((section, index) => section.replace(/^## \d+\./, `## ${index + 1}.`));
  return [first.trimEnd(), ...numbered].join('\n\n').concat('\n');
}

function withoutBlocks(section: string, named: RegExp): string {
  const [heading = '', ...blocks] = section.trimEnd().split(BLOCK);
  const left = blocks.filter((block) => !named.test(block));
  if (left.length === 0) return '';
  return left.reduce(
    (all, block, index) =>
      `${all}${index > 0 && block.startsWith('- ') && left[index - 1]?.startsWith('- ') ? '\n' : '\n\n'}${block}`,
    heading,
  );
}
