// Pure: the layers → their table in docs/architecture.md.

interface LayerRow {
  readonly folder: string;
  readonly holds: string;
  readonly imports: readonly string[] | 'everything';
  readonly globals?: readonly string[];
  readonly ceiling: number;
}

interface SoleImport {
  readonly modules: readonly string[];
  readonly folders: readonly string[];
}

export function layersTable(layers: readonly LayerRow[], soleImports: readonly SoleImport[]): string {
  const rows = layers.map(({ folder, holds, imports, globals = [], ceiling }) => {
    const allowed = imports === 'everything' ? imports : imports.join(', ');
    const alone = soleImports
      .filter(({ folders }) => folders.includes(folder))
      .map((one) => aloneWords(one, folder));
    return `| \`${folder}\` | ${holds} | ${allowed} | ${[...globals.map(code), ...alone].join('; ')} | ${ceiling} |`;
  });
  const head = [
    '| Folder | Holds | May import | Alone imports | Lines at most |',
    '| --- | --- | --- | --- | --: |',
  ];
  return [...head, ...rows].join('\n');
}

function aloneWords({ modules, folders }: SoleImport, folder: string): string {
  const others = folders.filter((one) => one !== folder).map(code);
  const names = modules.map((name) => code(name.replace(/(?<!\/)\*$/, ''))).join(', ');
  return others.length === 0 ? names : `${names} with ${others.join(', ')}`;
}

function code(text: string): string {
  return `\`${text}\``;
}
