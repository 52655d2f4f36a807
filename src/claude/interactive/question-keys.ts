// Pure.
import type { DialogKeys, PressResult } from './dialog-keys.js';
import { questionChoices } from './dialogs/user-question.js';
import type { MenuOption } from './menu-options.js';
import type { Menu } from './menu.js';

const KEY_SPACE = ' ';
const PASTE_START = '\x1b[200~';
const PASTE_END = '\x1b[201~';

/**
 * Answers the question on the screen: chooses the option with that label, or types free text into the option that takes it. If several
 * options may be chosen, ticks each and submits.
 */
export async function answerQuestion(keys: DialogKeys, answer: string): Promise<PressResult> {
  const menu = keys.menu();
  if (menu === undefined) return 'gone';
  const choices = questionChoices(menu) ?? [];
  if (choices.some((choice) => choice.ticked !== undefined)) return answerMulti(keys, choices, answer);
  const chosen = choices.find((choice) => choice.label === answer);
  if (chosen !== undefined) return keys.choose((option) => option.number === chosen.number);
  const typed = await typeFreeText(keys, oneLineOf(answer));
  return typed === 'pressed' ? keys.enter() : typed;
}

async function answerMulti(
  keys: DialogKeys,
  choices: readonly MenuOption[],
  answer: string,
): Promise<PressResult> {
  const { labels, rest } = splitAnswer(
    answer,
    choices.map((choice) => choice.label),
  );
  for (const { number, label } of choices) {
    const isThis = (option: MenuOption): boolean => option.number === number;
    const isWanted = labels.has(label);
    if (keys.menu()?.options.find(isThis)?.ticked === isWanted) continue;
    const moved = await keys.moveTo(isThis);
    if (moved !== 'pressed') return moved;
    const ticked = await keys.type(KEY_SPACE, (menu) => menu.options.find(isThis)?.ticked === isWanted);
    if (ticked !== 'pressed') return ticked;
  }
  if (rest !== '') {
    const typed = await typeFreeText(keys, rest);
    if (typed !== 'pressed') return typed;
  }
  // Only the button has no number.
  return keys.choose((option) => option.number === undefined);
}

/** Types the text into the option that takes it, and checks that it is there. */
async function typeFreeText(keys: DialogKeys, text: string): Promise<PressResult> {
  const moved = await keys.moveTo((option) => option.number === freeTextNumber(keys.menu()));
  if (moved !== 'pressed') return moved;
  return keys.type(`${PASTE_START}${text}${PASTE_END}`, (menu) => {
    const label = menu.options.find((option) => option.number === freeTextNumber(menu))?.label ?? '';
    return label !== '' && text.startsWith(label);
  });
}

/** The option for free text follows the agent's own choices. */
function freeTextNumber(menu: Menu | undefined): number | undefined {
  return menu === undefined ? undefined : (questionChoices(menu)?.length ?? 0) + 1;
}

/** `Search, Export, and more` → the labels that are options, and the remaining text. */
function splitAnswer(answer: string, options: readonly string[]): { labels: Set<string>; rest: string } {
  const labels = new Set<string>();
  const others: string[] = [];
  let left = oneLineOf(answer);
  while (left !== '') {
    // Longest first: a label may contain a comma.
    const label = options
      .filter((option) => left === option || left.startsWith(`${option},`))
      .sort((a, b) => b.length - a.length)[0];
    const part = label ?? left.split(',', 1)[0] ?? left;
    if (label === undefined) others.push(part.trim());
    else labels.add(label);
    left = left.slice(part.length + 1).trim();
  }
  return { labels, rest: others.filter((part) => part !== '').join(', ') };
}

/** One line without control characters: a newline would submit, and an escape would act as a key. */
function oneLineOf(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ').trim();
}
