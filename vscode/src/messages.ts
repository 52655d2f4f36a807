import * as vscode from 'vscode';
import { messageText } from './shown-text.js';

/** Shows a message. Resolves with the button that was pressed; undefined when it was closed. Nothing of `text` becomes a link. */
export async function showInformation(
  text: string,
  ...buttons: readonly string[]
): Promise<string | undefined> {
  return vscode.window.showInformationMessage(messageText(text), ...buttons);
}

/** As `showInformation`. */
export async function showWarning(text: string, ...buttons: readonly string[]): Promise<string | undefined> {
  return vscode.window.showWarningMessage(messageText(text), ...buttons);
}

/** As `showInformation`. */
export async function showError(text: string, ...buttons: readonly string[]): Promise<string | undefined> {
  return vscode.window.showErrorMessage(messageText(text), ...buttons);
}
