// Pure: syntax in which a command may run that no word of the line shows.
import type { Command, ParameterExpansionPart, ParsedScript, SyntaxNode, Word } from 'unbash';
import type * as Unbash from 'unbash';
import { readWord } from './shell-word.js';
import { changesCommands, isPlainName } from './special-variables.js';

const CALCULATING = /^-(eq|ne|lt|le|gt|ge)$/;
const NUMBER = /^(-?\d+|"?\$[?#!$]"?)$/;

/**
 * Why the script may run what cannot be read in it; undefined when it does not. The parser reads bash; what zsh reads otherwise
 * is among the reasons.
 */
export function hiddenCommand(script: ParsedScript, syntax: typeof Unbash): string | undefined {
  let found: string | undefined;
  const visit = (node: SyntaxNode): void => {
    found ??= faultOf(node);
    if (found === undefined && node.type === 'Command') found = prefixFault(node);
    if (found === undefined) syntax.forEachChild(node, visit);
  };
  syntax.forEachChild(script, visit);
  return found;
}

function faultOf(node: SyntaxNode): string | undefined {
  switch (node.type) {
    case 'ArithmeticWord':
      // A variable's value is calculated in turn, and an index in it may hold a substitution.
      return /^\d+$/.test(node.value) ? undefined : 'it calculates with a variable';
    case 'ExtendedGlob':
      return 'zsh may run commands for a pattern with brackets';
    case 'ParameterExpansion':
      return expansionFault(node);
    case 'Assignment':
      return node.index !== undefined && !NUMBER.test(node.index.text)
        ? `${node.name} is set at an index that may be evaluated`
        : undefined;
    case 'ArrayValue':
      return node.elements.some(({ text }) => text.startsWith('[') && !/^\[\d+\]/.test(text))
        ? 'an index may be evaluated'
        : undefined;
    case 'For':
    case 'Select':
    case 'Coproc':
      return node.name === undefined || isPlainName(node.name.value)
        ? undefined
        : `${node.name.value} changes what commands run`;
    case 'TestBinary':
      return CALCULATING.test(node.operator) && !(NUMBER.test(node.left.text) && NUMBER.test(node.right.text))
        ? 'it calculates with a variable'
        : undefined;
    case 'TestUnary':
      return /^-[vR]$/.test(node.operator) && !/^\w+$/.test(node.operand.text)
        ? 'an index may be evaluated'
        : undefined;
    case 'Literal':
      return node.text.includes('$+') ? 'zsh evaluates what stands behind $+' : undefined;
    case 'Word':
      return wordFault(node);
    default:
      return undefined;
  }
}

/** Assignments that stand alone, before a command, or behind `export`. */
function prefixFault({ prefix, name, args }: Command): string | undefined {
  const set = [...prefix, ...args].flatMap((one) => (one.type === 'Assignment' ? [one] : []));
  const changing = set.find((one) => {
    const word = one.value.type === 'Word' ? readWord(one.value) : undefined;
    // It holds for what is read alone.
    if (one.name === 'IFS' && name?.value === 'read') return false;
    return changesCommands(one.name, word?.kind === 'literal' ? word.value : undefined);
  });
  return changing === undefined ? undefined : `${changing.name} changes what commands run`;
}

function expansionFault(node: ParameterExpansionPart): string | undefined {
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

function wordFault({ text, parts }: Word): string | undefined {
  if (/^=[^=~]/.test(text)) return 'zsh runs or looks up what stands behind =';
  return parts === undefined && text.includes('$+') ? 'zsh evaluates what stands behind $+' : undefined;
}
