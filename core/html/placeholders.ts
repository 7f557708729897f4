import type { DefaultTreeAdapterTypes } from 'parse5';

type Element = DefaultTreeAdapterTypes.Element;

/**
 * Returns a box of the size of a frame or a form field, which are not shown, so that the design around it keeps its place; '' for any other
 * element. Sizes are those of browsers on a desktop.
 */
export function drawPlaceholder(element: Element): string {
  const { tagName } = element;
  if (tagName === 'iframe') return box(readSide(element, 'width', 300), readSide(element, 'height', 150), '');
  if (tagName === 'textarea')
    return field(readNumber(element, 'cols', 20) * 8 + 22, readNumber(element, 'rows', 2) * 15 + 6);
  if (tagName === 'select') return field(Math.min(300, 30 + 7 * firstOption(element).length), 19);
  return tagName === 'input' ? inputBox(element) : '';
}

const FIELD = 'border:1px solid #767676;background:#fff';
const BUTTON =
  'display:inline-block;padding:1px 6px;border:1px solid #767676;background:#efefef;color:#000;font:13px Arial';

function inputBox(element: Element): string {
  const type = readAttribute(element, 'type').toLowerCase();
  if (type === 'hidden') return '';
  if (type === 'checkbox' || type === 'radio') return box('13px', '13px', FIELD);
  if (type === 'image') return box(readSide(element, 'width', 16), readSide(element, 'height', 16), '');
  const label = readAttribute(element, 'value');
  if (type === 'submit' || type === 'button' || type === 'reset')
    return `<span style="${BUTTON}">${escapeXml(label === '' ? 'Submit' : label.slice(0, 200))}</span>`;
  return field(Math.round(readNumber(element, 'size', 20) * 7.25) + 8, 21);
}

function field(width: number, height: number): string {
  return box(`${width}px`, `${height}px`, FIELD);
}

function box(width: string, height: string, style: string): string {
  return `<span style="display:inline-block;box-sizing:border-box;width:${width};height:${height};${style}"></span>`;
}

function readSide(element: Element, side: 'width' | 'height', pixels: number): string {
  const [, length, unit] = /^\s*(\d{1,4})(%|px)?\s*$/.exec(readAttribute(element, side)) ?? [];
  return length === undefined ? `${pixels}px` : `${length}${unit ?? 'px'}`;
}

function readNumber(element: Element, name: string, standard: number): number {
  return Number(/^\d{1,3}$/.exec(readAttribute(element, name))?.[0] ?? standard);
}

function firstOption({ childNodes }: Element): string {
  for (const node of childNodes)
    if (node.nodeName === 'option' && 'childNodes' in node)
      return node.childNodes.map((text) => ('value' in text ? text.value.trim() : '')).join('');
  return '';
}

function readAttribute({ attrs }: Element, name: string): string {
  return attrs.find((attribute) => attribute.name === name)?.value ?? '';
}

export function escapeXml(text: string): string {
  if (!/[&<>"]/.test(text)) return text;
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
