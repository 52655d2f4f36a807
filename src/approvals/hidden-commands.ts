// Pure: syntax in which a command may run that no word of the line shows.
import type { ParsedScript, SyntaxNode, Word } from 'unbash';
import type * as Unbash from 'unbash';

/**
 * Why the script may run what cannot be read in it; undefined when it does not. The parser reads bash; what zsh reads otherwise
 * is among the reasons.
 */
export function hiddenCommand(script: ParsedScript, syntax: typeof Unbash): string | undefined {
  let found: string | undefined;
  const visit = (node: SyntaxNode): void => {
    found ??= faultOf(node);
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
      return node.operation?.type === 'Transform' ||
        node.operation?.type === 'Unknown' ||
        /^\W/.test(node.parameter)
        ? `${node.text} may be evaluated`
        : undefined;
    case 'Literal':
      return node.text.includes('$+') ? 'zsh evaluates what stands behind $+' : undefined;
    case 'Word':
      return wordFault(node);
    default:
      return undefined;
  }
}

function wordFault({ text, parts }: Word): string | undefined {
  if (/^=[^=~]/.test(text)) return 'zsh runs or looks up what stands behind =';
  return parts === undefined && text.includes('$+') ? 'zsh evaluates what stands behind $+' : undefined;
}
