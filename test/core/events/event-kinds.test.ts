import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { EVENT_KINDS, isEventKind } from '../../../core/events/event-kinds.ts';

const root = path.resolve(import.meta.dirname, '../../..');
/** Points at which tests of faults end a process, named alike. */
const FAULT_POINTS = ['delivery.claimed', 'delivery.posted', 'delivery.acted', 'delivery.recorded', 'delivery.turned'];
/** Where a kind is put together from a word before it: the words. */
const COMPOSED: [pattern: RegExp, kinds: string[]][] = [
  [/then 'email\.' \|\| type else/, ['email.sent', 'email.scheduled']],
  [/kind: `email\.\$\{kind\}`/, ['email.bounced', 'email.delayed', 'email.complained']],
];

test('lists exactly the kinds that are written', () => {
  const written = new Set<string>();
  const found = new Set<RegExp>();
  for (const folder of ['actors', 'db/queries', 'operations'])
    for (const name of readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })) {
      if (!name.endsWith('.ts')) continue;
      const text = readFileSync(path.join(root, folder, name), 'utf8');
      for (const [, kind = ''] of text.matchAll(/'((?:email|thread|delivery|endpoint|domain|dmarc)\.[a-z_]+)'/g))
        written.add(kind);
      for (const [pattern, kinds] of COMPOSED) {
        if (!pattern.test(text)) continue;
        found.add(pattern);
        for (const kind of kinds) written.add(kind);
      }
    }
  expect(found.size).toBe(COMPOSED.length);
  for (const point of FAULT_POINTS) expect(written.delete(point), point).toBe(true);
  expect([...written].toSorted()).toEqual(Object.keys(EVENT_KINDS).toSorted());
});

test('names of Object.prototype members are not kinds', () => {
  for (const name of ['constructor', '__proto__', 'toString', '']) expect(isEventKind(name)).toBe(false);
  expect(isEventKind('email.received')).toBe(true);
});
