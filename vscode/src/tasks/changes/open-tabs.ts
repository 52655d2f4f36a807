import * as vscode from 'vscode';
import { documentOf, type TaskDocument } from './document-uri.js';

/** The documents of the board's text that tabs of this window show. Their texts stay known to the editor for longer. */
export function documentsInTabs(): readonly TaskDocument[] {
  return vscode.window.tabGroups.all
    .flatMap(({ tabs }) => tabs)
    .flatMap(({ input }) => urisOf(input))
    .flatMap((uri) => documentOf(uri) ?? []);
}

function urisOf(input: unknown): readonly vscode.Uri[] {
  if (input instanceof vscode.TabInputText) return [input.uri];
  if (input instanceof vscode.TabInputTextDiff) return [input.original, input.modified];
  // Of the editor for several files, whose class is not part of the stable interface.
  const hasDiffs = typeof input === 'object' && input !== null && 'textDiffs' in input;
  return hasDiffs && Array.isArray(input.textDiffs) ? input.textDiffs.flatMap(urisOf) : [];
}
