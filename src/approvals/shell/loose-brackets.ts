// Pure: brackets that the parser passed over.
import type { ParsedScript, SyntaxNode } from 'unbash';
import type * as Unbash from 'unbash';

/** The parser passes over some brackets that open nothing; what a shell would make of them nobody can say. */
export function hasLooseBrackets(script: ParsedScript, source: string, syntax: typeof Unbash): boolean {
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
