// Pure: finds syntax that may run a command which no word of the line shows.
import type { Command, ParameterExpansionPart, ParsedScript, SyntaxNode, Word } from 'unbash';
import type * as Unbash from 'unbash';
import { readWord } from './shell-word.js';
import { changesCommands, isPlainName } from './special-variables.js';

const ARITHMETIC = /^-(eq|ne|lt|le|gt|ge)$/;
const NUMBER = /^(-?\d+|"?\$[?#!$]"?)$/;

/**
 * Why the script may run a command that its words do not show; undefined when it does not. The parser reads bash, so syntax
 * that zsh reads differently is a reason, too.
 */
export function hiddenCommand(script: ParsedScript, syntax: typeof Unbash): string | undefined {
  let found: string | undefined;
  const visit = (node: SyntaxNode): void => {
    found ??= reasonIn(node);
    if (found === undefined && node.type === 'Command') found = reasonInAssignments(node);
    if (found === undefined) syntax.forEachChild(node, visit);
  };
  syntax.forEachChild(script, visit);
  return found;
}

function reasonIn(node: SyntaxNode): string | undefined {
  switch (node.type) {
    case 'ArithmeticWord':
      // The shell evaluates a variable's value as arithmetic, and an index in it may contain a command substitution.
      return /^\d+$/.test(node.value) ? undefined : 'it does arithmetic with a variable';
    case 'ExtendedGlob':
      return 'zsh may run commands inside a pattern with brackets';
    case 'ParameterExpansion':
      return reasonInExpansion(node);
    case 'Assignment':
      return node.index !== undefined && !NUMBER.test(node.index.text)
        ? `${node.name} is set at an index that the shell may evaluate`
        : undefined;
    case 'ArrayValue':
      return node.elements.some(({ text }) => text.startsWith('[') && !/^\[\d+\]/.test(text))
        ? 'the shell may evaluate an index'
        : undefined;
    case 'For':
    case 'Select':
    case 'Coproc':
      return node.name === undefined || isPlainName(node.name.value)
        ? undefined
        : `${node.name.value} changes what commands run`;
    case 'TestBinary':
      return ARITHMETIC.test(node.operator) && !(NUMBER.test(node.left.text) && NUMBER.test(node.right.text))
        ? 'it does arithmetic with a variable'
        : undefined;
    case 'TestUnary':
      return /^-[vR]$/.test(node.operator) && !/^\w+$/.test(node.operand.text)
        ? 'the shell may evaluate an index'
        : undefined;
    case 'Literal':
      return node.text.includes('$+') ? 'zsh evaluates what follows $+' : undefined;
    case 'Word':
      return reasonInWord(node);
    default:
      return undefined;
  }
}

/** Checks assignments: alone, before a command, or after `export`. */
function reasonInAssignments({ prefix, name, args }: Command): string | undefined {
  const set = [...prefix, ...args].flatMap((one) => (one.type === 'Assignment' ? [one] : []));
  const changing = set.find((one) => {
    const word = one.value.type === 'Word' ? readWord(one.value) : undefined;
    // Before `read` it changes only how the input is split.
    if (one.name === 'IFS' && name?.value === 'read') return false;
    return changesCommands(one.name, word?.kind === 'literal' ? word.value : undefined);
  });
  return changing === undefined ? undefined : `${changing.name} changes what commands run`;
}

function reasonInExpansion(node: ParameterExpansionPart): string | undefined {
  const { operation, index, prefix, parameter } = node;
  const isNames = operation?.type === 'Names' || (index !== undefined && /^[@*]$/.test(index.text));
  const isEvaluated =
    operation?.type === 'Transform' ||
    operation?.type === 'Unknown' ||
    (/^\W/.test(parameter) &&
      !(/^[@*#?$!-]$/.test(parameter) && node.text === `\${${prefix ?? ''}${parameter}}`)) ||
    (prefix === '!' && !isNames) ||
    (index !== undefined && !/^(\d+|@|\*)$/.test(index.text)) ||
    (operation?.type === 'Slice' &&
      ![operation.offset, operation.length].every(
        (one) => one === undefined || /^\s*-?\d*$/.test(one.text),
      )) ||
    (operation?.type === 'Default' && operation.operator.endsWith('=') && !isPlainName(parameter));
  return isEvaluated ? `${node.text} may be evaluated` : undefined;
}

function reasonInWord({ text, parts }: Word): string | undefined {
  if (/^=[^=~]/.test(text)) return 'zsh runs or looks up what follows =';
  return parts === undefined && text.includes('$+') ? 'zsh evaluates what follows $+' : undefined;
}
