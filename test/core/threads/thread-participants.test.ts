import { expect, test } from 'vitest';
import { addParticipants, participantList } from '../../../core/threads/thread-participants.ts';

test.each<[string | null, string, string | null]>([
  ['Ada', 'Ada@X.test', 'Ada'],
  [null, 'ada@x.test', null],
  ['Ada <home>', 'ada@x.test', 'Ada <home>'],
  ['  ', 'ada@x.test', null],
  ['Ada\nLovelace', 'ada@x.test', 'Ada\nLovelace'],
])('a participant %j <%s> is listed with the name %j', (name, address, shown) => {
  const participants = addParticipants({ emails: [], names: [] }, [{ name, address }]);
  expect(participantList(participants)).toEqual([{ name: shown, address: address.toLowerCase() }]);
});

test('a long name that is cut within an emoji stays text that PostgreSQL takes', () => {
  const { names } = addParticipants({ emails: [], names: [] }, [
    { name: `${'a'.repeat(199)}😀`, address: 'ada@x.test' },
  ]);
  expect(names).toEqual([`${'a'.repeat(199)}\ufffd <ada@x.test>`]);
});
