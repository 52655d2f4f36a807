/**
 * Lets xterm set its styles under the page's policy, until the result is called: its `<style>` elements get the nonce as they are made,
 * and what it writes into `style` attributes is set as properties.
 */
export function allowStyles(place: HTMLElement): () => void {
  const nonce = document.querySelector<HTMLMetaElement>('meta[name=style-nonce]')?.content ?? '';
  const owner = place.ownerDocument;
  const create = owner.createElement.bind(owner);
  owner.createElement = (name: string, options?: ElementCreationOptions): HTMLElement => {
    const element = create(name, options);
    if (name.toLowerCase() === 'style') element.setAttribute('nonce', nonce);
    element.setAttribute = setAttribute;
    return element;
  };
  return () => {
    owner.createElement = create;
  };
}

function setAttribute(this: HTMLElement, name: string, value: string): void {
  if (name === 'style') this.style.cssText = value;
  else Element.prototype.setAttribute.call(this, name, value);
}
