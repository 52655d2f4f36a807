// Pure: finds brackets that the parser skipped.
import type { ParsedScript, SyntaxNode } from 'unbash';
import type * as Unbash from 'unbash';

/** True when the parser skipped an unmatched bracket: a shell may read the line differently. */
export function hasUnmatchedBracket(script: ParsedScript, source: string, syntax: typeof Unbash): boolean {
  const rest = source.slice(script.pos, script.end).split('');
  let closedAlone = 0;
  const visit = (node: SyntaxNode): void => {
    if (node.type === 'CaseItem') closedAlone++;
    const isText = node.type === 'Word' || node.type === 'Assignment' || node.type.startsWith('Here');
    if (isText) rest.fill(' ', node.pos - script.pos, node.end - script.pos);
    else syntax.forEachChild(node, visit);
  };
  syntax.forEachChild(script, visit);
  const count = (bracket: string): number => rest.filter((char) => char === bracket).length;
  const missing = count(')') - count('(');
  return missing < 0 || missing > closedAlone;
}
