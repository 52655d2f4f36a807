/** Settings of earlier versions, each with what is so now. A value that is still set is not used, and reported. */
export const removedSettings: Readonly<Record<string, string>> = {
  structured_answers: 'answers always hold both their text and their structured content',
  spare_keeper: 'the process of a task is started with the task',
};

/** The sentence for a removed setting that `origin` still sets, by its key or its variable; undefined for any other name. */
export function removedSetting(name: string, origin: string): string | undefined {
  const key = name.replace(/^MCP_/, '').toLowerCase();
  const now = Object.hasOwn(removedSettings, key) ? removedSettings[key] : undefined;
  return now === undefined ? undefined : `${origin}: the setting ${key} was removed and is not used: ${now}.`;
}
