import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';

type Violation = Awaited<ReturnType<AxeBuilder['analyze']>>['violations'][number];

/** What breaks the rules of WCAG 2.2 AA in a page and its frames. */
export async function violationsIn(page: Page): Promise<Violation[]> {
  const { violations } = await new AxeBuilder({ page })
    .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'])
    .analyze();
  return violations;
}

/** What a screen reader or an eye would stumble over, in words. */
export async function barriers(page: Page): Promise<string[]> {
  return (await violationsIn(page)).map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`,
  );
}
