import * as vscode from 'vscode';
import { messageText } from './shown-text.js';

/** Shows a message. Resolves with the button that was pressed; undefined when it was closed. Nothing of `text` becomes a link. */
type Show = (text: string, ...buttons: readonly string[]) => Promise<string | undefined>;

export const showInformation: Show = async (text, ...buttons) =>
  vscode.window.showInformationMessage(messageText(text), ...buttons);

export const showWarning: Show = async (text, ...buttons) =>
  vscode.window.showWarningMessage(messageText(text), ...buttons);

export const showError: Show = async (text, ...buttons) =>
  vscode.window.showErrorMessage(messageText(text), ...buttons);
