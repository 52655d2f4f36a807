import { createContext } from 'preact';
import type { EditorTransport } from '../transport/editor.js';

/** The editor around this page, for what only it can do. */
export const EditorContext = createContext<EditorTransport | undefined>(undefined);
