import type { PromptServices } from './services.js';

/** Those of `names` that the server offers, as a list; undefined without one. */
export function offeredNames(
  names: readonly string[],
  between: string,
  { offers }: Pick<PromptServices, 'offers'>,
): string | undefined {
  const offered = names.filter(offers);
  return offered.length === 0 ? undefined : offered.join(between);
}
