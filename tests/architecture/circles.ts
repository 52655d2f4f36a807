/** Imports between nodes that are on a circle, or between two of them: what is left when every node without a way on, or back, is removed. */
export function circularImports(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const left = new Set(graph.keys());
  const edges = (): [string, string][] =>
    [...left].flatMap((from) =>
      (graph.get(from) ?? []).filter((to) => left.has(to)).map((to): [string, string] => [from, to]),
    );
  for (;;) {
    const all = edges();
    const leads = new Set(all.map(([from]) => from));
    const isLed = new Set(all.map(([, to]) => to));
    const out = [...left].filter((node) => !leads.has(node) || !isLed.has(node));
    if (out.length === 0) return all.map(([from, to]) => `${from} → ${to}`);
    for (const node of out) left.delete(node);
  }
}
