import { readFileSync } from 'node:fs';
import path from 'node:path';

/** A text that was written to train or to test the screening. */
interface Order {
  /** the heading above it */
  family: string;
  text: string;
}

/** `kept-aside-…` and `later-…` are never trained with. */
export const ORDER_FILES = [
  'aimed',
  'harmless',
  'kept-aside-aimed',
  'kept-aside-harmless',
  'later-aimed',
  'later-harmless',
  'everyday-aimed',
  'everyday-harmless',
] as const;
type OrderFile = (typeof ORDER_FILES)[number];

/** Returns the texts of a file, one per line; `\n` in a text is a line break. */
export function readOrders(name: OrderFile): Order[] {
  const orders: Order[] = [];
  let family = '';
  for (const line of readFileSync(path.join(import.meta.dirname, `${name}.txt`), 'utf8').split('\n')) {
    if (line.startsWith('# ')) family = line.slice(2);
    else if (line !== '') orders.push({ family, text: line.replaceAll('\\n', '\n') });
  }
  return orders;
}
